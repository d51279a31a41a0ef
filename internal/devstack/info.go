package devstack

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Info is what dev.json says of a running stack.
type Info struct {
	PID             int       `json:"pid"`
	StartedAt       time.Time `json:"started_at"`
	DatabaseURL     string    `json:"database_url"`
	TemporalAddress string    `json:"temporal_address"`
	Namespace       string    `json:"namespace"`
	UIURL           string    `json:"ui_url,omitempty"`
	PostgresPID     int       `json:"postgres_pid,omitempty"`
	TemporalPID     int       `json:"temporal_pid,omitempty"`
}

const (
	infoFile = "dev.json"
	lockFile = "dev.lock"
)

// Find returns the stack that is up in the data folder. A dev.json left behind
// by a process that was killed does not count: the lock tells.
func Find(dataDir string) (Info, bool) {
	if !locked(dataDir) {
		return Info{}, false
	}
	return readInfo(dataDir)
}

func readInfo(dataDir string) (Info, bool) {
	raw, err := os.ReadFile(filepath.Join(dataDir, infoFile))
	if err != nil {
		return Info{}, false
	}
	var info Info
	if err := json.Unmarshal(raw, &info); err != nil {
		return Info{}, false
	}
	return info, true
}

// writeInfo replaces dev.json in one step, readable by its owner alone because
// the DSN holds a password.
func writeInfo(dataDir string, info Info) error {
	raw, err := json.MarshalIndent(info, "", "  ")
	if err != nil {
		return err
	}
	return writeFileAtomic(filepath.Join(dataDir, infoFile), append(raw, '\n'))
}

func removeInfo(dataDir string) { _ = os.Remove(filepath.Join(dataDir, infoFile)) }

func writeFileAtomic(name string, raw []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(name), ".tmp-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(raw)
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}
