import { useInterval } from '@mantine/hooks'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { relative } from '../lib/time'

/** How long until or since, kept true while it is looked at. */
export function Ago({ at }: { at: string }) {
  const { i18n } = useTranslation()
  const [now, setNow] = useState(() => Date.now())
  useInterval(() => setNow(Date.now()), 1000, { autoInvoke: true })
  return <time dateTime={at}>{relative(at, i18n.language, now)}</time>
}
