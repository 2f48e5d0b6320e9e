import { useInterval } from '@mantine/hooks'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { relative } from '../lib/time'

/** The duration until or since a time, updated while it is shown. */
export function Ago({ at }: { at: string }) {
  const { i18n } = useTranslation()
  const [now, setNow] = useState(() => Date.now())
  useInterval(() => setNow(Date.now()), 1000, { autoInvoke: true })
  return <time dateTime={at}>{relative(at, i18n.language, now)}</time>
}
