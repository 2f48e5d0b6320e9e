import { ActionIcon, Input, Popover, Skeleton, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconCalendarTime } from '@tabler/icons-react'
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { loaded } from '../lib/loading'
import { ApiError, api, unwrap } from '../api/client'
import { errorText } from '../lib/notify'
import { format, offsetName, toInstant, type Wall } from '../lib/time'
import { formatWhen } from '../lib/when'

/** Reads a time in English or Vietnamese: "tomorrow 9", "thứ hai 7h30". The server does, as for all clients. */
const parseWhen = (text: string, zone: string): Promise<Wall> =>
  unwrap(api.GET('/api/v1/time', { params: { query: { text, time_zone: zone } } })).then((parsed) => parsed.local_time)

/** How long typing pauses before the text is read. */
const readDelay = 250

const Picker = lazy(() => loaded(() => import('./WhenPicker')))

interface Props {
  label: ReactNode
  value: Wall | ''
  zone: string
  onChange: (when: Wall | '') => void
  error?: ReactNode
  /** An instant offered as a shortcut: the next free slot of a queue. */
  nextSlot?: string
  autoFocus?: boolean
  required?: boolean
  w?: number | string
}

/**
 * A date and time: typed in natural language, in English or Vietnamese, or picked.
 * The parsed time is shown below, with the zone.
 */
export function WhenField({
  label,
  value: given,
  zone,
  onChange,
  error,
  nextSlot,
  autoFocus,
  required,
  w = 260,
}: Props) {
  const { t, i18n } = useTranslation()
  const [opened, { toggle, close }] = useDisclosure()
  // The text during typing; otherwise the field shows the value.
  const [typed, setTyped] = useState<string>()
  // The chosen value, until the parent has it, too.
  const [mine, setMine] = useState<{ when: Wall | ''; instead: Wall | '' }>()
  const value = mine && mine.instead === given ? mine.when : given
  const give = (when: Wall | '') => {
    setMine({ when, instead: given })
    onChange(when)
  }
  const at = value === '' ? undefined : toInstant(value, zone)
  // What became of the text; only the newest one counts.
  const [state, setState] = useState<'reading' | 'understood' | 'unclear' | { failed: unknown }>('understood')
  const newest = useRef(0)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const read = async (text: string) => {
    clearTimeout(timer.current)
    const mine = ++newest.current
    try {
      const when = await parseWhen(text, zone)
      if (mine !== newest.current) return false
      setState('understood')
      give(when)
      return true
    } catch (failed) {
      // Without a response the text may be clear.
      const isUnclear = failed instanceof ApiError && failed.status >= 400 && failed.status < 500
      if (mine === newest.current) setState(isUnclear ? 'unclear' : { failed })
      return false
    }
  }
  const type = (text: string) => {
    setTyped(text)
    clearTimeout(timer.current)
    newest.current++
    // Nothing can be saved with the time before while this one is read.
    if (value !== '') give('')
    setState(text.trim() === '' ? 'understood' : 'reading')
    if (text.trim() !== '') timer.current = setTimeout(() => void read(text), readDelay)
  }
  const leave = () => {
    if (typed !== undefined && state === 'reading')
      void read(typed).then((understood) => understood && setTyped(undefined))
    else if (state === 'understood') setTyped(undefined)
  }
  const pick = (when: Wall) => {
    clearTimeout(timer.current)
    newest.current++
    setState('understood')
    setTyped(undefined)
    give(when)
  }
  return (
    <Input.Wrapper w={w} maw="100%">
      <TextInput
        label={label}
        required={required}
        data-autofocus={autoFocus || undefined}
        autoComplete="off"
        placeholder={t('when.placeholder')}
        value={typed ?? formatWhen(value, i18n.language)}
        error={
          state === 'unclear'
            ? t('when.unclear')
            : typeof state === 'object'
              ? errorText(state.failed)
              : state === 'reading'
                ? undefined
                : error
        }
        onChange={(e) => type(e.currentTarget.value)}
        onFocus={(e) => e.currentTarget.select()}
        onBlur={leave}
        onKeyDown={(e) => {
          if (e.key === 'Enter') leave()
        }}
        rightSection={
          <Popover
            opened={opened}
            onChange={close}
            onDismiss={close}
            position="bottom-end"
            withinPortal
            trapFocus
            returnFocus
            shadow="md"
          >
            <Popover.Target>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={t('when.pick')}
                aria-expanded={opened}
                onClick={toggle}
              >
                <IconCalendarTime size={18} aria-hidden />
              </ActionIcon>
            </Popover.Target>
            <Popover.Dropdown p="sm" aria-label={t('when.pick')}>
              <Suspense fallback={<Skeleton w={280} h={360} />}>
                <Picker value={value} zone={zone} onChange={pick} nextSlot={nextSlot} close={close} />
              </Suspense>
            </Popover.Dropdown>
          </Popover>
        }
      />
      <Text size="xs" c="dimmed" mt={4} aria-live="polite" data-when={value}>
        {at
          ? `${format(at, i18n.language, zone, { weekday: 'long', day: 'numeric', month: 'long', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })} · ${offsetName(zone, at.getTime())}`
          : `${zone.replaceAll('_', ' ')} · ${offsetName(zone)}`}
      </Text>
    </Input.Wrapper>
  )
}
