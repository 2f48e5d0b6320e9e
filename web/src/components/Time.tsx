import { useTranslation } from 'react-i18next'
import { useMe } from '../lib/session'
import { format, isThisYear, toWall } from '../lib/time'

const looks = {
  full: { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' },
  short: { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
  day: { day: 'numeric', month: 'short' },
  clock: { hour: '2-digit', minute: '2-digit' },
  seconds: { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' },
  exact: {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
  },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>

/** A time in a zone, by default the workspace's. */
export function Time({ at, zone, look = 'full' }: { at: string; zone?: string; look?: keyof typeof looks }) {
  const { i18n } = useTranslation()
  const me = useMe()
  const where = zone ?? me.workspace.time_zone
  return (
    <time
      dateTime={at}
      title={`${format(at, i18n.language, where, { dateStyle: 'full', timeStyle: 'long' })}`}
      className="dl-numbers"
    >
      {format(at, i18n.language, where, {
        ...looks[look],
        // Without its year, a day of another one would be taken for one of this year.
        ...(look !== 'clock' && !isThisYear(`${toWall(at, where)}Z`) ? { year: 'numeric' } : {}),
        hourCycle: 'h23',
      })}
    </time>
  )
}
