import { ActionIcon, Input, Popover, Skeleton, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconCalendarTime } from '@tabler/icons-react'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { format, toInstant, type Wall } from '../lib/time'
import { formatWhen, offsetName, parseWhen } from '../lib/when'

const Picker = lazy(() => import('./WhenPicker'))

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
export function WhenField({ label, value: given, zone, onChange, error, nextSlot, autoFocus, required, w = 260 }: Props) {
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
  const understood = typed === undefined || typed.trim() === '' || parseWhen(typed, zone) !== undefined
  const at = value === '' ? undefined : toInstant(value, zone)
  const type = (text: string) => {
    setTyped(text)
    const when = text.trim() === '' ? '' : parseWhen(text, zone)
    if (when !== undefined && when !== value) give(when)
  }
  const pick = (when: Wall) => {
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
        error={understood ? error : t('when.unclear')}
        onChange={(e) => type(e.currentTarget.value)}
        onFocus={(e) => e.currentTarget.select()}
        onBlur={() => understood && setTyped(undefined)}
        onKeyDown={(e) => {
          if (e.key === 'Enter' && understood) setTyped(undefined)
        }}
        rightSection={
          <Popover opened={opened} onChange={close} onDismiss={close} position="bottom-end" withinPortal trapFocus returnFocus shadow="md">
            <Popover.Target>
              <ActionIcon variant="subtle" color="gray" aria-label={t('when.pick')} aria-expanded={opened} onClick={toggle}>
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
        {at ? `${format(at, i18n.language, zone, { weekday: 'long', day: 'numeric', month: 'long', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })} · ${offsetName(zone, at.getTime())}` : `${zone.replaceAll('_', ' ')} · ${offsetName(zone)}`}
      </Text>
    </Input.Wrapper>
  )
}
