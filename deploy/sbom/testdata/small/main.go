// Command small is a program with one dependency, for the test of sbom.
package main

import "github.com/google/uuid"

func main() { println(uuid.Nil.String()) }
