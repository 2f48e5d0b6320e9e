import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { commentsQuery } from '../lib/queries'
import { useMe } from '../lib/session'

/**
 * Names who did something about a post: a member, or one who has left. Dateline itself has no name: what nobody did
 * needs none. actor is `user:<id>`, `operator` or `dateline`.
 */
export function useActorName(post: string): (actor: string | undefined) => string | undefined {
  const { t } = useTranslation()
  const me = useMe()
  const people = useQuery(commentsQuery(post)).data?.people
  return (actor) => {
    if (actor === 'operator') return t('auditActor.operator')
    const [, id] = /^user:(.+)$/.exec(actor ?? '') ?? []
    if (!id) return undefined
    if (id === me.user.id) return me.user.name
    // Until the names are known there is none, rather than a wrong one.
    return people && (people.find((p) => p.id === id)?.name ?? t('auditActor.former'))
  }
}
