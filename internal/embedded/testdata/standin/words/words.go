// Package words makes the stand-in a program of several packages.
package words

// Ready is what the program prints.
const Ready = "standin ready"
