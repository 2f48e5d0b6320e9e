package x

// portLength returns the length of a port with its colon; 0: none.
func portLength(text []rune) int {
	n := 1
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	if n == 1 || text[0] != ':' {
		return 0
	}
	return n
}

// pathLength returns the length of a path with its slash; 0: none. Trailing
// punctuation is not part of it. Parentheses are part of it in pairs, with at
// most one nested level: /Primer_(film).
func pathLength(text []rune) int {
	if len(text) == 0 || text[0] != '/' {
		return 0
	}
	at := 1 + pathPart(text[1:])
	for {
		n := parentheses(text[at:])
		if n == 0 {
			return at
		}
		at += n
	}
}

// pathPart returns the end of the last character that may end a path.
func pathPart(text []rune) int {
	last := 0
	for at := 0; at < len(text); {
		switch {
		case pathChar(text[at]):
			at++
			if pathEnd(text[at-1]) {
				last = at
			}
		case parentheses(text[at:]) > 0:
			at += parentheses(text[at:])
		default:
			return last
		}
	}
	return last
}

// parentheses returns the length of a non-empty pair; 0: none.
func parentheses(text []rune) int {
	if len(text) == 0 || text[0] != '(' {
		return 0
	}
	at := 1 + pathChars(text[1:])
	if at < len(text) && text[at] == ')' && at > 1 {
		return at + 1
	}
	if at == len(text) || text[at] != '(' {
		return 0
	}
	inner := pathChars(text[at+1:])
	at += 1 + inner
	if inner == 0 || at == len(text) || text[at] != ')' {
		return 0
	}
	at++
	at += pathChars(text[at:])
	if at == len(text) || text[at] != ')' {
		return 0
	}
	return at + 1
}

func pathChars(text []rune) int {
	n := 0
	for n < len(text) && pathChar(text[n]) {
		n++
	}
	return n
}

// queryLength returns the length of a query with its question mark; 0: none.
func queryLength(text []rune) int {
	if len(text) == 0 || text[0] != '?' {
		return 0
	}
	last := 0
	for at := 1; at < len(text) && queryChar(text[at]); at++ {
		if queryEnd(text[at]) {
			last = at + 1
		}
	}
	return last
}
