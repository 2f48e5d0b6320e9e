import type { Schemas } from '../../api/client'
import { pictures, read } from './html'

type Article = Pick<Schemas['Article'], 'title' | 'lead' | 'canonical_url' | 'image_url' | 'html'>

/** What of an article goes into a post. */
export interface Taken {
  title: boolean
  lead: boolean
  link: boolean
  track: boolean
  image: boolean
}

/** The text of a post: title, lead and link, as far as they are wanted. */
export function contentOf(a: Article, taken: Taken): string {
  const parts = [taken.title && a.title, taken.lead && a.lead !== a.title && a.lead, taken.link && a.canonical_url]
  return parts.filter((p): p is string => typeof p === 'string' && p.trim() !== '').map((p) => p.trim()).join('\n\n')
}

/** The main image, when its address is one of the web. */
export const imageOf = (a: Article) => (a.image_url && /^https?:\/\//i.test(a.image_url) && a.image_url.length <= 4000 ? a.image_url : undefined)

/** How the article's own text describes an image. */
export function altOf(a: Article, url: string): string {
  return pictures(read(a.html)).find((p) => p.address === url)?.alt ?? ''
}
