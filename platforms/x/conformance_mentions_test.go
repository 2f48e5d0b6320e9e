package x_test

func usernameCases() []validity {
	return []validity{
		{text: "@username", valid: true},
		{text: "@12345", valid: true},
		{text: "@example_name", valid: true},
		{text: "@example-name"},
	}
}

func listCases() []validity {
	return []validity{
		{text: "@username/list", valid: true},
		{text: "@username"},
		{text: "@username/"},
		{text: " @username/list"},
		{text: "@username/list "},
	}
}

func mentionCases() []extraction {
	return []extraction{
		{text: "@username reply", want: []string{"username"}},
		{text: "mention @username", want: []string{"username"}},
		{text: "mention @username in the middle", want: []string{"username"}},
		{text: "mention @user_name", want: []string{"user_name"}},
		{text: "mention @12345", want: []string{"12345"}},
		{text: "mention @username1 @username2", want: []string{"username1", "username2"}},
		{text: "の@usernameに到着を待っている", want: []string{"username"}},
		{text: "Current Status: @_@ (cc: @username)", want: []string{"username"}},
		{text: "@aliceìnheiro something something"},
		{text: "@username email me @test@example.com", want: []string{"username"}},
		{text: "@http://twitter.com"},
		{text: "@username\n@mention", want: []string{"username", "mention"}},
		{text: "RT@username RT:@mention RT @test", want: []string{"username", "mention", "test"}},
		{text: "rt@username rt:@mention rt @test", want: []string{"username", "mention", "test"}},
		{text: "Rt@username Rt:@mention Rt @test", want: []string{"username", "mention", "test"}},
		{text: "rT@username rT:@mention rT @test", want: []string{"username", "mention", "test"}},
		{text: "f!@kn"},
		{text: "f@@kn"},
		{text: "f#@kn"},
		{text: "f$@kn"},
		{text: "f%@kn"},
		{text: "f&@kn"},
		{text: "f*@kn"},
	}
}

func mentionPositions() []position {
	return []position{
		{text: "@username yo!", want: []found{{"username", 0, 9}}},
		{text: "username @username", want: []found{{"username", 9, 18}}},
		{text: "の@usernameに到着を待っている", want: []found{{"username", 1, 10}}},
	}
}

func listPositions() []position {
	return []position{
		{text: "@username yo!", want: []found{{"username", 0, 9}}},
		{text: "@username/list-name is a great list!", want: []found{{"username/list-name", 0, 19}}},
		{text: "Hey @username, check out out @otheruser/list_name-01!", want: []found{
			{"username", 4, 13}, {"otheruser/list_name-01", 29, 52},
		}},
		{text: "の@username/list_name-01に到着を待っている", want: []found{{"username/list_name-01", 1, 23}}},
		{text: "@username/7list-name is a great list!", want: []found{{"username", 0, 9}}},
	}
}

func replyCases() []extraction {
	return []extraction{
		{text: "@username reply", want: []string{"username"}},
		{text: " @username reply", want: []string{"username"}},
		{text: "\u3000@username reply", want: []string{"username"}},
		{text: "a @username mention, not a reply"},
		{text: ".@username mention, not a reply"},
		{text: "/@username mention, not a reply"},
		{text: "_@username mention, not a reply"},
		{text: "-@username mention, not a reply"},
		{text: "+@username mention, not a reply"},
		{text: "#@username mention, not a reply"},
		{text: "!@username mention, not a reply"},
		{text: "@@username mention, not a reply"},
		{text: "@http://twitter.com"},
	}
}
