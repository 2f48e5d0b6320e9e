// Mantine has the styles of all components in one file. Those of components that the dashboard does not use are left
// out. What the frame around the pages uses is loaded first (main.tsx), the rest with the first page (pages.css).
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { firstFiles } from './first.ts'

const web = new URL('../', import.meta.url).pathname
const mantine = join(web, 'node_modules/@mantine')
const components = join(mantine, 'core/esm/components')

/** What the plugin uses of a rule of PostCSS. */
interface Rule {
  source?: { input: { file?: string } }
  parent?: { type: string; name?: string }
  selectors: string[]
  remove(): void
}

function* sources(folder: string): Generator<string> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (statSync(path).isDirectory()) yield* sources(path)
    else if (/\.(tsx?|mjs)$/.test(name)) yield readFileSync(path, 'utf8')
  }
}

/** The components that some sources import, and those that these are made of. */
function usedComponents(texts: Iterable<string>): Set<string> {
  const used = new Set<string>()
  const folders = new Set(readdirSync(components))
  const use = (name = '') => {
    if (!folders.has(name) || used.has(name)) return
    used.add(name)
    for (const text of sources(join(components, name)))
      for (const [, other] of text.matchAll(/from "(?:\.\.\/)+(\w+)\//g)) use(other)
  }
  for (const text of texts)
    for (const [, names = ''] of text.matchAll(/import \{([^}]*)\} from ["']@mantine\/core["']/g))
      for (const [name] of names.matchAll(/\w+/g)) use(name)
  // Parts such as InputWrapper are in the folder of their component.
  for (const name of folders) if ([...used].some((other) => name.startsWith(other))) use(name)
  return used
}

/** The sources of the dashboard and of Mantine's other packages. */
function* allSources(): Generator<string> {
  const packages = ['dates', 'notifications', 'schedule', 'spotlight'].map((name) => join(mantine, name, 'esm'))
  for (const folder of [join(web, 'src'), ...packages]) yield* sources(folder)
}

/** The classes of some components, and those of all others. */
function classesOf(chosen: Set<string>): { own: Set<string>; others: Set<string> } {
  const [own, others] = [new Set<string>(), new Set<string>()]
  for (const name of readdirSync(components))
    for (const text of sources(join(components, name)))
      if (text.includes('.module.css'))
        for (const [found] of text.matchAll(/m_[0-9a-f]+/g)) (chosen.has(name) ? own : others).add(found)
  return { own, others }
}

/** A plugin of PostCSS. */
export function withoutUnused() {
  const used = classesOf(usedComponents(allSources()))
  const first = classesOf(usedComponents([...firstFiles()].map((file) => readFileSync(file, 'utf8'))))
  const isIn = (selector: string, isLater: boolean) => {
    const names = [...selector.matchAll(/\.(m_[0-9a-f]+)/g)].map(([, name = '']) => name)
    if (names.some((name) => used.others.has(name) && !used.own.has(name))) return false
    // Rules without a component are global.
    const isOfPages = names.some((name) => first.others.has(name) && !first.own.has(name))
    return isOfPages === isLater
  }
  return {
    postcssPlugin: 'without-unused',
    Rule(rule: Rule, { result }: { result: { opts: { from?: string } } }) {
      if (!rule.source?.input.file?.includes('@mantine/core/styles.css')) return
      if (rule.parent?.type === 'atrule' && rule.parent.name?.endsWith('keyframes')) return
      const isLater = result.opts.from?.split('?')[0]?.endsWith('/src/pages.css') ?? false
      const kept = rule.selectors.filter((selector) => isIn(selector, isLater))
      if (kept.length === 0) rule.remove()
      else if (kept.length < rule.selectors.length) rule.selectors = kept
    },
  }
}
