import { Fieldset, NumberInput, Select, SimpleGrid, Switch, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { ZoneSelect } from '../../components/ZoneSelect'
import { useMe } from '../../lib/session'
import type { Definition } from './definition'

/** When posts are published, who approves them, and how many there may be. */
export function TimingFields({
  definition: d,
  set,
}: {
  definition: Definition
  set: (change: Partial<Definition>) => void
}) {
  const { t } = useTranslation()
  const me = useMe()
  const timing = (change: Partial<Definition['timing']>) => set({ timing: { ...d.timing, ...change } })
  const hours = d.timing.hours
  return (
    <Fieldset legend={t('rules.when')}>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Select
          label={t('rules.mode')}
          allowDeselect={false}
          data={(['draft', 'approval', 'automatic'] as const).map((m) => ({ value: m, label: t(`rules.modes.${m}`) }))}
          value={d.mode}
          onChange={(v) => v && set({ mode: v as Definition['mode'] })}
        />
        <Select
          label={t('rules.timing')}
          allowDeselect={false}
          data={(['now', 'delay', 'next_free'] as const).map((w) => ({ value: w, label: t(`rules.timings.${w}`) }))}
          value={d.timing.when}
          onChange={(v) =>
            v &&
            timing({
              when: v as Definition['timing']['when'],
              delay_minutes: v === 'delay' ? (d.timing.delay_minutes ?? 30) : undefined,
              hours: v === 'next_free' ? undefined : hours,
            })
          }
        />
        {d.timing.when === 'delay' && (
          <NumberInput
            label={t('rules.delay')}
            min={1}
            max={10080}
            value={d.timing.delay_minutes ?? 30}
            onChange={(v) => timing({ delay_minutes: Number(v) })}
          />
        )}
        {d.timing.when !== 'next_free' && (
          <Switch
            label={t('rules.onlyHours')}
            checked={!!hours}
            onChange={(e) =>
              timing({
                hours: e.currentTarget.checked
                  ? { from: '07:00', to: '22:00', weekdays: [], time_zone: me.workspace.time_zone }
                  : undefined,
              })
            }
          />
        )}
        {hours && (
          <>
            <TextInput
              label={t('rules.from')}
              placeholder="07:00"
              maxLength={5}
              value={hours.from}
              onChange={(e) => timing({ hours: { ...hours, from: e.currentTarget.value } })}
            />
            <TextInput
              label={t('rules.to')}
              placeholder="22:00"
              maxLength={5}
              value={hours.to}
              onChange={(e) => timing({ hours: { ...hours, to: e.currentTarget.value } })}
            />
            <ZoneSelect value={hours.time_zone} onChange={(zone) => timing({ hours: { ...hours, time_zone: zone } })} />
          </>
        )}
        <NumberInput
          label={t('rules.maxPerHour')}
          required
          min={1}
          max={100}
          value={d.max_per_hour}
          onChange={(v) => set({ max_per_hour: Number(v) })}
        />
        <NumberInput
          label={t('rules.maxPerDay')}
          required
          min={1}
          max={1000}
          value={d.max_per_day}
          onChange={(v) => set({ max_per_day: Number(v) })}
        />
      </SimpleGrid>
    </Fieldset>
  )
}
