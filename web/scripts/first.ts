// What is loaded before any page: the frame around the pages, and what it imports.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The source files that are loaded first. */
export function firstFiles(
  file = new URL('../src/main.tsx', import.meta.url).pathname,
  found = new Set<string>(),
): Set<string> {
  if (found.has(file)) return found
  found.add(file)
  const imports = /^(?:import|export)(?! type)[^'"]*?['"](\.[^'"]*)['"]/gms
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(imports))
    for (const end of ['', '.tsx', '.ts', '/index.tsx', '/index.ts']) {
      const other = join(dirname(file), path) + end
      if (/\.tsx?$/.test(other) && existsSync(other)) firstFiles(other, found)
    }
  return found
}
