// No code: the mark of a link of SASS alone.
