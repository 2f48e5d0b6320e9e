#!/usr/bin/env bash
# @slack/web-api: the import of retryPolicies that its README shows fails in an ES module.
#
# Guess: `import { WebClient, retryPolicies } from '@slack/web-api'`, with which the README explains how to change automatic
# retries, works like the imports of LogLevel and ErrorCode from the same package.
#
# Seen (@slack/web-api 8.2.0, Node 20.20.2): a SyntaxError, "Named export 'retryPolicies' not found", when the module is loaded.
# The package is CommonJS, and Node finds its other names but not this one, whose getter returns a property of a call. Through
# require, or as a property of the default import, it is there. A client that must not repeat a call that publishes needs it.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-fund --no-audit @slack/web-api@8.2.0
echo "@slack/web-api 8.2.0, Node $(node --version)"
load() { node --input-type=module -e "$1" 2>&1 | grep -oE "^(SyntaxError: Named export '[a-zA-Z]+' not found|[a-z]+$)" | head -1; }
named=$(load "import { retryPolicies } from '@slack/web-api'; console.log(typeof retryPolicies)" || true)
other=$(load "import { LogLevel } from '@slack/web-api'; console.log(typeof LogLevel)" || true)
whole=$(load "import slack from '@slack/web-api'; console.log(typeof slack.retryPolicies)" || true)
printf '%s\n' "retryPolicies: $named" "LogLevel: $other" "through the default import: $whole"
[ "$named/$other/$whole" = "SyntaxError: Named export 'retryPolicies' not found/object/object" ] || { echo "changed"; exit 1; }
