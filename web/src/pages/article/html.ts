/** An allowed element with its allowed attributes. */
export interface Element {
  tag: string
  /** Of links and pictures: a web URL. */
  address?: string
  /** The description of a picture. */
  alt?: string
  children: Piece[]
}
export type Piece = string | Element

/** The allowed elements; of all others only the text is kept. */
const allowed = new Set([
  'p',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'ul',
  'ol',
  'li',
  'blockquote',
  'pre',
  'figure',
  'figcaption',
  'table',
  'thead',
  'tbody',
  'tfoot',
  'tr',
  'td',
  'th',
  'dl',
  'dt',
  'dd',
  'strong',
  'b',
  'em',
  'i',
  'sub',
  'sup',
  'code',
  'q',
  'cite',
  's',
  'u',
  'small',
  'mark',
  'abbr',
  'a',
])

/** Of these even the text is removed. */
const dropped = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'iframe',
  'object',
  'svg',
  'math',
  'textarea',
  'select',
  'button',
  'title',
  'audio',
  'video',
  'canvas',
])

/** Elements in which white space between elements is ignored. */
const rows = new Set(['table', 'thead', 'tbody', 'tfoot', 'tr', 'ul', 'ol', 'dl'])

const deepest = 60

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

function decoded(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(\w{2,6}));/g,
    (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return Object.hasOwn(entities, name) ? (entities[name] ?? whole) : whole
      const code = decimal !== undefined ? Number(decimal) : Number.parseInt(hex ?? '', 16)
      return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : whole
    },
  )
}

/** A web URL, or undefined. */
function webAddress(raw: string | undefined): string | undefined {
  try {
    const url = new URL(raw ?? '')
    return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : undefined
  } catch {
    return undefined
  }
}

interface Tag {
  name: string
  closes: boolean
  attributes: Map<string, string>
  end: number
}

const attribute = /[\s/]*([^\s/>=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/y

/** The tag that begins at a position, if there is one. */
function tagAt(html: string, at: number): Tag | undefined {
  const begin = /<(\/?)([a-zA-Z][a-zA-Z0-9-]*)/y
  begin.lastIndex = at
  const found = begin.exec(html)
  if (!found) return undefined
  const attributes = new Map<string, string>()
  let end = begin.lastIndex
  for (;;) {
    attribute.lastIndex = end
    const a = attribute.exec(html)
    if (!a || a[1] === undefined) break
    const name = a[1].toLowerCase()
    if (!attributes.has(name)) attributes.set(name, decoded(a[2] ?? a[3] ?? a[4] ?? ''))
    end = attribute.lastIndex
  }
  const close = html.indexOf('>', end)
  return {
    name: (found[2] ?? '').toLowerCase(),
    closes: found[1] === '/',
    attributes,
    end: close < 0 ? html.length : close + 1,
  }
}

/**
 * Parses the HTML of an article into allowed elements. The browser's parser is not
 * used: it would process every style and event handler, if only to
 * refuse them. Anything that is not a tag is text.
 */
export function read(html: string): Piece[] {
  const top: Element = { tag: '', children: [] }
  const open = [top]
  const inside = () => open.at(-1) ?? top
  const say = (text: string) => {
    const { tag, children } = inside()
    if (text === '' || (text.trim() === '' && rows.has(tag))) return
    const last = children.at(-1)
    if (typeof last === 'string') children[children.length - 1] = last + text
    else children.push(text)
  }
  const small = html.toLowerCase()
  let at = 0
  while (at < html.length) {
    const next = html.indexOf('<', at)
    say(decoded(html.slice(at, next < 0 ? html.length : next)))
    if (next < 0) break
    if (html.startsWith('<!--', next)) {
      const end = html.indexOf('-->', next + 4)
      at = end < 0 ? html.length : end + 3
      continue
    }
    const tag = tagAt(html, next)
    if (!tag) {
      say('<')
      at = next + 1
      continue
    }
    at = tag.end
    if (tag.closes) {
      const i = open.findLastIndex((e) => e.tag === nameOf(tag.name))
      if (i > 0) open.length = i
    } else if (dropped.has(tag.name)) {
      const end = small.indexOf(`</${tag.name}`, at)
      at = end < 0 ? html.length : (tagAt(html, end)?.end ?? html.length)
    } else if (tag.name === 'br') inside().children.push({ tag: 'br', children: [] })
    else if (tag.name === 'img') {
      const address = webAddress(tag.attributes.get('src'))
      if (address)
        inside().children.push({ tag: 'img', address, alt: tag.attributes.get('alt')?.trim() ?? '', children: [] })
    } else begin(tag, open)
  }
  return top.children
}

/** The page already has a first-level heading. */
const nameOf = (tag: string) => (tag === 'h1' ? 'h2' : tag)

function begin(tag: Tag, open: Element[]): void {
  const name = nameOf(tag.name)
  const address = name === 'a' ? webAddress(tag.attributes.get('href')) : undefined
  if (!allowed.has(name) || open.length > deepest || (name === 'a' && (!address || open.some((e) => e.tag === 'a'))))
    return
  const made: Element = { tag: name, ...(address ? { address } : {}), children: [] }
  open.at(-1)?.children.push(made)
  open.push(made)
}

/** All pictures of an article, in order. */
export const pictures = (pieces: Piece[]): Element[] =>
  pieces.flatMap((p) => (typeof p === 'string' ? [] : p.tag === 'img' ? [p] : pictures(p.children)))
