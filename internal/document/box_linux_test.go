package document

const nobodyID = nobody
