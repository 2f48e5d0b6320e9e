import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { api, ifMatchHeader, idempotencyHeader, type Post, unwrap } from '../../api/client'
import { contentOf, type Draft, draftOf, editOf, isAhead, isBlank } from './draft'
import i18n from 'i18next'
import { forget, saveField, savedField } from '../../lib/formState'
import { notifyRefused } from '../../lib/notify'
import { refreshPosts } from '../../lib/posts'
import { describing } from './describing'

export type Saving = 'clean' | 'dirty' | 'saving' | 'failed'

/** The edits of file descriptions since a time. */
const describedAfter = (client: QueryClient, time: number) =>
  client
    .getMutationCache()
    .findAll({ mutationKey: describing, status: 'success', predicate: (m) => m.state.submittedAt > time })

interface Edited {
  draft: Draft
  stored: Post | undefined
}

/** Drafts are saved while they are edited; a scheduled post is changed only on request. */
const isAutomatic = ({ draft, stored }: Edited) => (stored ? stored.status === 'draft' : !isBlank(draft))

const formName = (stored: Pick<Post, 'id'> | undefined) => `post ${stored?.id ?? ''}`

/** The edits of a post that were not stored when its page was left. */
export const unsavedDraft = (post: Post | undefined) => savedField(formName(post), 'draft') as Draft | undefined

/** Forgets them. */
export const forgetDraft = (post: Pick<Post, 'id'> | undefined) => forget(formName(post))

const pause = 700 // ms after typing, before it is saved

/**
 * Saves a draft while it is edited, one request after the other. Other posts are
 * stored only when save is called: until then they are published unchanged.
 */
export function useSaving(
  draft: Draft,
  initial: Post | undefined,
  created: (p: Post) => void,
  /** The draft was restored: it has changes that are not stored. */
  isRestored = false,
) {
  const client = useQueryClient()
  const [stored, setStored] = useState(initial)
  const [state, setState] = useState<Saving>(isRestored ? 'dirty' : 'clean')
  const [error, setError] = useState<unknown>()
  const latest = useRef<Edited>({ draft, stored: initial })
  const running = useRef<Promise<Post>>(undefined)
  const seen = useRef(isRestored ? undefined : draft)
  const caughtUp = useRef(0)
  const onCreated = useRef(created)
  useEffect(() => {
    onCreated.current = created
  })

  const send = useCallback(async (): Promise<Post> => {
    const { draft, stored } = latest.current
    const before = stored && draftOf(stored)
    const moved = before?.when !== draft.when || before.zone !== draft.zone
    const time = moved && isAhead(draft) ? { scheduled_time: draft.when } : {}
    if (!stored) {
      const { content = '', ...rest } = contentOf(draft)
      return unwrap(
        api.POST('/api/v1/posts', {
          params: { header: idempotencyHeader() },
          body: { ...rest, content, ...time, draft: true },
        }),
      )
    }
    const versions = stored.targets.filter((t) => t.override).map((t) => t.account_id)
    return unwrap(
      api.PATCH('/api/v1/posts/{id}', {
        params: { path: { id: stored.id }, header: ifMatchHeader(stored.version) },
        body: { ...editOf(draft, versions), ...time },
      }),
    )
  }, [])

  /** Describing a file gives the post a new version: adopt it, unless something else has changed, too. */
  const catchUp = useCallback(async () => {
    while (client.isMutating({ mutationKey: describing }) > 0) await new Promise((done) => setTimeout(done, 20))
    const { stored } = latest.current
    const described = Math.max(0, ...describedAfter(client, caughtUp.current).map((m) => m.state.submittedAt))
    if (!stored || described === 0) return
    const now = await unwrap(api.GET('/api/v1/posts/{id}', { params: { path: { id: stored.id } } }))
    caughtUp.current = described
    if (now.status !== stored.status || JSON.stringify(draftOf(now)) !== JSON.stringify(draftOf(stored))) return
    latest.current.stored = now
    setStored(now)
  }, [client])

  /** Stores the current content and returns the stored post. */
  const save = useCallback(async (): Promise<Post> => {
    await running.current?.catch(() => undefined) // its error was shown
    await catchUp()
    if (seen.current === latest.current.draft && latest.current.stored) return latest.current.stored
    const sent = latest.current.draft
    setState('saving')
    running.current = (async () => {
      try {
        const fresh = !latest.current.stored
        const post = await send()
        latest.current.stored = post
        seen.current = sent
        setStored(post)
        setError(undefined)
        setState(latest.current.draft === sent ? 'clean' : 'dirty')
        client.setQueryData(['post', post.id], post)
        refreshPosts(client)
        forget(formName(fresh ? undefined : post))
        if (latest.current.draft !== sent) saveField(formName(post), 'draft', latest.current.draft)
        if (fresh) onCreated.current(post)
        return post
      } catch (cause) {
        setError(cause)
        setState('failed')
        throw cause
      } finally {
        running.current = undefined
      }
    })()
    return running.current
  }, [client, send, catchUp])

  useEffect(() => {
    latest.current.draft = draft
    if (draft === seen.current) return
    setState('dirty')
    saveField(formName(latest.current.stored), 'draft', isBlank(draft) && !latest.current.stored ? undefined : draft)
    if (!isAutomatic(latest.current)) return
    const timer = setTimeout(() => void save().catch(() => undefined), pause)
    return () => clearTimeout(timer)
  }, [draft, save])

  // Leaving the page within the pause stores what was typed last. Without a connection, it stays in the browser.
  useEffect(
    () => () => {
      if (latest.current.draft !== seen.current && isAutomatic(latest.current))
        void save().catch((cause: unknown) => notifyRefused(i18n.t('compose.keptHere'), cause))
    },
    [save],
  )

  // The browser asks before leaving with unsaved changes.
  useEffect(() => {
    if (state === 'clean') return
    const ask = (e: BeforeUnloadEvent) => e.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [state])

  /** The post was changed by other means than save. */
  const accept = useCallback((post: Post) => {
    latest.current.stored = post
    setStored(post)
  }, [])

  /** Starts again from a content that counts as stored. */
  const reset = useCallback((to: Draft) => {
    seen.current = to
    setState('clean')
  }, [])

  /** The current content, which may be newer than what is rendered. */
  const current = useCallback(() => latest.current.draft, [])
  return useMemo(
    () => ({ stored, state, error, save, accept, reset, current }),
    [stored, state, error, save, accept, reset, current],
  )
}
