import i18n from 'i18next'
import { api, type Post, type Target, unwrap } from '../api/client'
import { causeText } from '../i18n/message'
import { notifyRefused, notifySuccess } from './notify'

/** What became of targets that were sent again; undefined: some are still on their way. */
export function outcomeOf(targets: Target[]): { posted: Target[]; refused: Target[] } | undefined {
  if (targets.some((x) => x.status === 'scheduled' || x.status === 'publishing')) return undefined
  return {
    posted: targets.filter((x) => x.status === 'posted'),
    refused: targets.filter((x) => x.status === 'failed' || x.status === 'uncertain'),
  }
}

const interval = 1000
/** How long an outcome is awaited; a network may be slow. */
const timeout = 120_000

/**
 * Says what became of posts that were sent again: a refusal must not look like the one before. It continues when the
 * page is left.
 */
export async function notifyOutcome(posts: string[], only?: string): Promise<void> {
  for (const end = Date.now() + timeout; Date.now() < end; ) {
    await new Promise((done) => setTimeout(done, interval))
    let all: Post[]
    try {
      all = await Promise.all(
        posts.map((id) => unwrap(api.GET('/api/v1/posts/{id}', { params: { path: { id } } })) as Promise<Post>),
      )
    } catch {
      continue // without a connection, the next time
    }
    const found = outcomeOf(all.flatMap((p) => p.targets).filter((x) => only === undefined || x.id === only))
    if (!found) continue
    const { posted, refused } = found
    const [first] = refused
    const handles = (some: Target[]) =>
      new Intl.ListFormat(i18n.language).format([...new Set(some.map((x) => x.handle))].slice(0, 5))
    if (first) {
      const reasons = [...new Set(refused.map((x) => (x.error ? causeText(x.error) : '')))].filter((r) => r !== '')
      notifyRefused(
        i18n.t('dead.refusedAgain', { count: refused.length, handles: handles(refused) }),
        new Error(reasons.slice(0, 3).join(' ')),
      )
    } else if (posted.length > 0) notifySuccess(i18n.t('dead.postedNow', { handles: handles(posted) }))
    return
  }
}
