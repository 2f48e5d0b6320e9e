import type { Schemas } from '../../api/client'

export type Config = Schemas['SelectorConfig']
export type Variant = Schemas['SelectorVariant']

/** The fields of paths, besides the body and its excluded parts. */
export const named = ['title', 'authors', 'published', 'updated', 'lead', 'image', 'section', 'tags'] as const
export type Named = (typeof named)[number]
export type Place = 'body' | 'drop' | Named

export const places: readonly Place[] = ['body', 'drop', ...named]

export const blank = (): Config => ({ variants: [newVariant('articles')] })

export const newVariant = (name: string): Variant => ({ name, body: ['//article'], drop: [], fields: {} })

export function pathsOf(v: Variant, place: Place): string[] {
  if (place === 'body') return v.body
  if (place === 'drop') return v.drop ?? []
  return v.fields?.[place] ?? []
}

export function withPaths(v: Variant, place: Place, paths: string[]): Variant {
  if (place === 'body') return { ...v, body: paths }
  if (place === 'drop') return { ...v, drop: paths }
  return { ...v, fields: { ...v.fields, [place]: paths } }
}

/** Removes the empty lines of editing, which the API does not accept. */
export function clean(c: Config): Config {
  const paths = (all: string[] = []) => all.map((p) => p.trim()).filter((p) => p !== '')
  return {
    variants: c.variants.map((v) => {
      const fields = Object.entries(v.fields ?? {})
        .map(([f, all]) => [f, paths(all)] as const)
        .filter(([, all]) => all.length > 0)
      const drop = paths(v.drop)
      return {
        name: v.name.trim(),
        body: paths(v.body),
        ...(v.generic_body ? { generic_body: true } : {}),
        ...(drop.length > 0 ? { drop } : {}),
        ...(fields.length > 0 ? { fields: Object.fromEntries(fields) } : {}),
      }
    }),
  }
}

/** Every template needs a path to the text. */
export const isWhole = (c: Config) => c.variants.length > 0 && c.variants.every((v) => v.body.length > 0)
