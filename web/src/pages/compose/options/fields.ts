import type { Schemas } from '../../../api/client'
import type en from '../../../i18n/en.json'

export type FieldName = keyof typeof en.options.field
export type ValueName = keyof typeof en.options.value
export type FlagName = keyof typeof en.options.flag

/** Options of all networks, by the network's name. */
export type Options = Schemas['PostOptions']
/** The edited options of one network. */
export type Values = Record<string, unknown>

/** The limits of a poll on a network. */
export interface PollLimits {
  choices: number
  length: number
  question?: number
  /** The durations in minutes; undefined: not adjustable. */
  minutes?: number[]
  days?: number[]
  flags: FlagName[]
}

/** One control of the options panel. name is a path below the network's options. */
export type Field =
  | { name: string; kind: 'choice'; values: ValueName[] }
  | { name: string; kind: 'choices'; values: ValueName[]; alone?: ValueName }
  | { name: string; kind: 'switch'; fallback?: boolean }
  | { name: string; kind: 'text' | 'area'; max: number }
  | { name: string; kind: 'list'; max: number }
  | { name: string; kind: 'number'; max: number }
  | { name: string; kind: 'poll'; poll: PollLimits }
  | { name: string; kind: 'buttons' }

const choice = (name: string, ...values: ValueName[]): Field => ({ name, kind: 'choice', values })
const toggle = (name: string, fallback?: boolean): Field => ({ name, kind: 'switch', fallback })
const text = (name: string, max: number): Field => ({ name, kind: 'text', max })
const list = (name: string, max: number): Field => ({ name, kind: 'list', max })
const poll = (limits: PollLimits): Field => ({ name: 'poll', kind: 'poll', poll: limits })

const firstComment: Field[] = [
  { name: 'first_comment.content', kind: 'area', max: 8000 },
  { name: 'first_comment.after_minutes', kind: 'number', max: 1440 },
]

const hour = 60
const day = 24 * hour

/** The options of each network, in the order in which they are shown. */
export const optionFields: Record<string, Field[]> = {
  mastodon: [
    choice('visibility', 'public', 'unlisted', 'private', 'direct'),
    text('content_warning', 500),
    toggle('sensitive'),
    text('language', 3),
    choice('quote_policy', 'public', 'followers', 'nobody'),
    poll({
      choices: 4,
      length: 50,
      minutes: [30, hour, 6 * hour, day, 3 * day, 7 * day],
      flags: ['multiple', 'hide_totals'],
    }),
  ],
  bluesky: [
    {
      name: 'who_can_reply',
      kind: 'choices',
      values: ['nobody', 'mentioned', 'followers', 'following'],
      alone: 'nobody',
    },
    toggle('no_quotes'),
    { name: 'labels', kind: 'choices', values: ['sexual', 'nudity', 'porn', 'graphic-media'] },
    list('languages', 3),
    text('quote', 300),
  ],
  x: [
    choice('reply_settings', 'following', 'mentioned', 'subscribers', 'verified'),
    toggle('made_with_ai'),
    toggle('paid_partnership'),
    poll({ choices: 4, length: 25, minutes: [30, hour, 6 * hour, day, 3 * day, 7 * day], flags: [] }),
  ],
  facebook: [choice('kind', 'post', 'reel', 'story'), text('link', 2000), ...firstComment],
  instagram: [
    choice('kind', 'feed', 'reel', 'story'),
    toggle('share_to_feed', true),
    list('collaborators', 3),
    text('location_id', 30),
    { name: 'cover_millis', kind: 'number', max: 900_000 },
    ...firstComment,
  ],
  threads: [
    choice(
      'reply_control',
      'everyone',
      'accounts_you_follow',
      'mentioned_only',
      'parent_post_author_only',
      'followers_only',
    ),
    text('topic', 50),
    toggle('spoiler_media'),
    list('spoiler_phrases', 10),
    poll({ choices: 4, length: 25, flags: [] }),
  ],
  linkedin: [
    choice('visibility', 'public', 'connections', 'logged_in'),
    text('document_title', 200),
    toggle('no_reshare'),
    poll({ choices: 4, length: 30, question: 140, days: [1, 3, 7, 14], flags: [] }),
    ...firstComment,
  ],
  slack: [toggle('plain_text'), toggle('suppress_previews'), toggle('broadcast_replies')],
  telegram: [
    toggle('silent'),
    toggle('protected'),
    toggle('spoiler'),
    toggle('caption_above'),
    toggle('link_preview.disabled'),
    choice('link_preview.size', 'small', 'large'),
    toggle('link_preview.above_text'),
    text('link_preview.url', 2000),
    { name: 'topic_id', kind: 'number', max: 2_147_483_647 },
    { name: 'buttons', kind: 'buttons' },
    poll({
      choices: 12,
      length: 100,
      minutes: [hour, 6 * hour, day, 3 * day, 7 * day],
      flags: ['multiple', 'hide_results'],
    }),
  ],
  discord: [
    toggle('suppress_embeds'),
    toggle('silent'),
    text('embed.title', 256),
    { name: 'embed.description', kind: 'area', max: 4096 },
    text('embed.url', 2000),
    text('embed.image_url', 2000),
    text('embed.color', 7),
    text('embed.footer', 2048),
    text('forum.title', 100),
    list('forum.tags', 5),
  ],
  ghost: [
    text('title', 255),
    { name: 'excerpt', kind: 'area', max: 300 },
    list('tags', 30),
    list('authors', 30),
    text('slug', 150),
    choice('featured_image', 'first', 'none'),
    choice('visibility', 'public', 'members', 'paid'),
    toggle('featured'),
    text('canonical_url', 2000),
  ],
  nostr: [
    choice('kind', 'note', 'article'),
    text('title', 300),
    { name: 'summary', kind: 'area', max: 1000 },
    text('slug', 100),
    text('content_warning', 200),
    { name: 'expires_after_hours', kind: 'number', max: 8784 },
  ],
  wordpress: [
    text('title', 500),
    { name: 'excerpt', kind: 'area', max: 2000 },
    list('categories', 30),
    list('tags', 30),
    text('slug', 150),
    choice('featured_image', 'first', 'none'),
    choice('visibility', 'public', 'editors'),
    choice('comments', 'open', 'closed'),
    choice('format', 'standard', 'aside', 'gallery', 'link', 'image', 'quote', 'status', 'video', 'audio', 'chat'),
    toggle('sticky'),
  ],
  zalo: [
    choice('kind', 'article', 'broadcast'),
    text('title', 149),
    text('author', 49),
    { name: 'description', kind: 'area', max: 299 },
    choice('comments', 'open', 'closed'),
  ],
}

/** Returns the value at a path. */
export const valueAt = (values: Values, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((at, name) => (typeof at === 'object' && at !== null ? (at as Values)[name] : undefined), values)

const isNothing = (value: unknown) =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === false ||
  (Array.isArray(value) ? value.length === 0 : typeof value === 'object' && Object.keys(value).length === 0)

/** Sets the value at a path; undefined removes it, and parent objects that become empty. */
export function withValue(values: Values, path: string, value: unknown, keepFalse = false): Values {
  const [name = '', ...rest] = path.split('.')
  const inner = rest.length > 0 ? withValue((values[name] ?? {}) as Values, rest.join('.'), value, keepFalse) : value
  const { [name]: _, ...others } = values
  return isNothing(inner) && !(keepFalse && inner === false) ? others : { ...others, [name]: inner }
}

/** Returns options with those of one network changed. */
export function withNetwork(options: Options, network: string, values: Values): Options {
  const { [network as keyof Options]: _, ...others } = options
  return (Object.keys(values).length === 0 ? others : { ...others, [network]: values }) as Options
}

export const valuesOf = (options: Options | undefined, network: string): Values =>
  (options?.[network as keyof Options] ?? {}) as Values

/** The number of options that are set for a network. */
export const countOf = (options: Options | undefined, network: string) => Object.keys(valuesOf(options, network)).length
