// Package jobfile reads and changes the options of jobs of every kind, by the names that
// commands and forms give them, and reads their counters. It also writes a job as a file
// and reads such files (the job files of CDI: Wu et al., WIDM 2012, Table 5). So a job can
// be kept beside what it works on, changed with an editor, and run on another record.
package jobfile
