import { useInterval } from '@mantine/hooks'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useMe } from '../lib/session'
import { formatExact, relative } from '../lib/time'

/** The duration until or since a time, updated while it is shown. */
export function Ago({ at }: { at: string }) {
  const { i18n } = useTranslation()
  const { time_zone } = useMe().workspace
  const [now, setNow] = useState(() => Date.now())
  useInterval(() => setNow(Date.now()), 1000, { autoInvoke: true })
  return (
    <time dateTime={at} title={formatExact(at, i18n.language, time_zone)}>
      {relative(at, i18n.language, now)}
    </time>
  )
}
