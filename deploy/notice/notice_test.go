package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestClassify(t *testing.T) {
	const (
		mit = `Permission is hereby granted, free of charge, to any person … The above copyright notice and this
			permission notice shall be included in all copies`
		bsd = "Redistribution and use in source and binary forms, with or without modification, are permitted"
	)
	for name, tc := range map[string]struct{ text, want string }{
		"MIT":          {mit, "MIT"},
		"two licenses": {"Apache License Version 2.0, January 2004 " + mit, "Apache-2.0 AND MIT"},
		"BSD-2-Clause": {bsd, "BSD-2-Clause"},
		"BSD-3-Clause": {bsd + " Neither the name of the copyright holder", "BSD-3-Clause"},
		"MPL-2.0": {
			"Mozilla Public License Version 2.0 … the GNU Lesser General Public License, Version 2.1 … under the " +
				"terms of this License", "MPL-2.0",
		},
		"AGPL-3.0": {"GNU AFFERO GENERAL PUBLIC LICENSE Version 3", "AGPL-3.0"},
		"unknown":  {"All rights reserved.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := classify(tc.text); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestCheck_RefusesLicenses(t *testing.T) {
	for license, want := range map[string]string{
		"MIT": "", "(MIT OR GPL-3.0)": "", "AGPL-3.0": "may not be combined", "MIT AND LGPL": "may not be combined",
		"": "no known license",
	} {
		err := check([]dependency{{Name: "example.com/m", Version: "v1.0.0", License: license}})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%q: got error %q, want %q", license, got, want)
		}
	}
}

func TestNotice_ListsEveryRequiredModule(t *testing.T) {
	notice, err := os.ReadFile("../../NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) (v\S+)$`).FindAllStringSubmatch(string(mod), -1) {
		if !strings.Contains(string(notice), "\n"+m[1]+" "+m[2]+": ") {
			t.Errorf("NOTICE lacks %s %s: run make notice", m[1], m[2])
		}
	}
}
