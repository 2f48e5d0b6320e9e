// Command standin is a tiny program that the tests build in place of temporald.
package main

import (
	"fmt"

	"standin/words"
)

func main() { fmt.Println(words.Ready) }
