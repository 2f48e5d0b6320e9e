// Finishes a build: compresses what compresses well, and fails when a first load
// has grown beyond what a slow line can bear.
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const limit = 200 * 1024
const dist = new URL('../dist/', import.meta.url).pathname

const manifest = JSON.parse(readFileSync(join(dist, 'manifest.json'), 'utf8'))
rmSync(join(dist, 'manifest.json'))

const packed = new Map()
for (const name of readdirSync(join(dist, 'assets'))) {
  const file = join(dist, 'assets', name)
  if (!/\.(js|css|svg|json)$/.test(name) || !statSync(file).isFile()) continue
  const small = gzipSync(readFileSync(file), { level: 9 })
  writeFileSync(`${file}.gz`, small)
  packed.set(`assets/${name}`, small.length)
}

// What the page itself names, with all that this imports without being asked, and
// the larger of the two languages.
const first = new Set()
function load(key) {
  const chunk = manifest[key]
  if (!chunk || first.has(chunk.file)) return
  first.add(chunk.file)
  for (const style of chunk.css ?? []) first.add(style)
  for (const other of chunk.imports ?? []) load(other)
}
load('index.html')
const languages = Object.keys(manifest).filter((key) => /virtual:texts\/[a-z]+\/first$/.test(key))
load(languages.sort((a, b) => packed.get(manifest[b].file) - packed.get(manifest[a].file))[0])

let total = 0
for (const file of first) total += packed.get(file) ?? statSync(join(dist, file)).size
const kB = (n) => `${(n / 1024).toFixed(1).padStart(7)} kB`
for (const file of first) console.log(kB(packed.get(file) ?? 0), file)
console.log(kB(total), 'gzip on the first load; at most', kB(limit).trim())
if (total > limit) {
  console.error('The first load is too large: load what it does not need later.')
  process.exit(1)
}
