// Divides the texts of a language: what the frame around the pages shows is loaded first, the rest with the first page.
import { readFileSync } from 'node:fs'

/** The top-level keys of the texts that are shown before a page is loaded. */
export const firstKeys = [
  'close',
  'undo',
  'state',
  'nav',
  'problem',
  'palette',
  'keys',
  'uploads',
  'live',
  'role',
  'scheme',
  'density',
  'offline',
]

const prefix = 'virtual:texts/'

/** A plugin of Vite: virtual:texts/vi/first and virtual:texts/vi/rest are the parts of src/i18n/vi.json. */
export const texts = () => ({
  name: 'texts',
  resolveId: (id: string) => (id.startsWith(prefix) ? `\0${id}` : undefined),
  load(this: { addWatchFile(file: string): void }, id: string) {
    if (!id.startsWith(`\0${prefix}`)) return undefined
    const [language, part] = id.slice(prefix.length + 1).split('/')
    const file = new URL(`../src/i18n/${language}.json`, import.meta.url).pathname
    this.addWatchFile(file)
    const all = Object.entries(JSON.parse(readFileSync(file, 'utf8')))
    const texts = Object.fromEntries(all.filter(([key]) => firstKeys.includes(key) === (part === 'first')))
    return `export default JSON.parse(${JSON.stringify(JSON.stringify(texts))})`
  },
})
