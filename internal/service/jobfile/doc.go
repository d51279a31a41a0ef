// Package jobfile writes a job as a file and reads such files: what the job does, and
// its options by the names that commands and forms give them (the job files of CDI: Wu et
// al., WIDM 2012, Table 5). So a job can be kept beside what it works on, changed with an
// editor, and run on another record.
package jobfile
