import type { Schemas } from '../../api/client'
import { pictures, read } from './html'

type Article = Pick<Schemas['Article'], 'title' | 'lead' | 'canonical_url' | 'image_url' | 'html'>

/** The parts of an article that a post contains. */
export interface Taken {
  title: boolean
  lead: boolean
  link: boolean
  track: boolean
  image: boolean
}

/** The text of a post: the selected parts of title, lead and link. */
export function contentOf(a: Article, taken: Taken): string {
  const parts = [taken.title && a.title, taken.lead && a.lead !== a.title && a.lead, taken.link && a.canonical_url]
  return parts
    .filter((p): p is string => typeof p === 'string' && p.trim() !== '')
    .map((p) => p.trim())
    .join('\n\n')
}

/** The main image, if it has a web URL. */
export const imageOf = (a: Article) =>
  a.image_url && /^https?:\/\//i.test(a.image_url) && a.image_url.length <= 4000 ? a.image_url : undefined

/** The description of an image in the article. */
export function altOf(a: Article, url: string): string {
  return pictures(read(a.html)).find((p) => p.address === url)?.alt ?? ''
}
