import { useTranslation } from 'react-i18next'
import { useMe } from '../lib/session'
import { type Form, formatExact, formatTime } from '../lib/time'

/** A time in a zone, by default the workspace's. Its tooltip has the exact one. */
export function Time({ at, zone, look = 'long' }: { at: string; zone?: string; look?: Form }) {
  const { i18n } = useTranslation()
  const me = useMe()
  const where = zone ?? me.workspace.time_zone
  return (
    <time dateTime={at} title={formatExact(at, i18n.language, where)} className="dl-numbers">
      {formatTime(at, i18n.language, where, look)}
    </time>
  )
}
