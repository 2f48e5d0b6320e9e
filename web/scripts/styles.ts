// Leaves the styles of components out that the dashboard does not use: Mantine has them all in one file, which is part
// of the first load.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

const web = new URL('../', import.meta.url).pathname
const mantine = join(web, 'node_modules/@mantine')
const components = join(mantine, 'core/esm/components')

/** What the plugin uses of a rule of PostCSS. */
interface Rule {
  source?: { input: { file?: string } }
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

/** The components that the dashboard and Mantine's other packages import, and those that these are made of. */
function usedComponents(): Set<string> {
  const used = new Set<string>()
  const folders = new Set(readdirSync(components))
  const use = (name = '') => {
    if (!folders.has(name) || used.has(name)) return
    used.add(name)
    for (const text of sources(join(components, name)))
      for (const [, other] of text.matchAll(/from "(?:\.\.\/)+(\w+)\//g)) use(other)
  }
  const packages = ['dates', 'notifications', 'schedule', 'spotlight'].map((name) => join(mantine, name, 'esm'))
  for (const folder of [join(web, 'src'), ...packages])
    for (const text of sources(folder))
      for (const [, names = ''] of text.matchAll(/import \{([^}]*)\} from ["']@mantine\/core["']/g))
        for (const [name] of names.matchAll(/\w+/g)) use(name)
  // Parts such as InputWrapper are in the folder of their component.
  for (const name of folders) if ([...used].some((other) => name.startsWith(other))) use(name)
  return used
}

/** The classes that only unused components have. */
function unusedClasses(): Set<string> {
  const used = usedComponents()
  const [kept, left] = [new Set<string>(), new Set<string>()]
  for (const name of readdirSync(components))
    for (const text of sources(join(components, name)))
      if (text.includes('.module.css'))
        for (const [found] of text.matchAll(/m_[0-9a-f]+/g)) (used.has(name) ? kept : left).add(found)
  return new Set([...left].filter((name) => !kept.has(name)))
}

/** A plugin of PostCSS. */
export function withoutUnused() {
  const unused = unusedClasses()
  return {
    postcssPlugin: 'without-unused',
    Rule(rule: Rule) {
      if (!rule.source?.input.file?.includes('@mantine/core/styles.css')) return
      const kept = rule.selectors.filter(
        (selector) => ![...selector.matchAll(/\.(m_[0-9a-f]+)/g)].some(([, name = '']) => unused.has(name)),
      )
      if (kept.length === 0) rule.remove()
      else if (kept.length < rule.selectors.length) rule.selectors = kept
    },
  }
}
