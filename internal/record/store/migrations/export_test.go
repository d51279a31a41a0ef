package migrations

// ApplyAll is Apply for the migrations of a file system.
var ApplyAll = applyAll
