import { Chip, Group, Input, NativeSelect, NumberInput, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { dayName, days, nthOf, type Rule, formatRule, describeRule, upcoming, weekday } from '../lib/rule'
import type { Wall } from '../lib/time'
import { DayField } from './DayField'
import { Time } from './Time'

interface Props {
  value: Rule
  onChange: (r: Rule) => void
  /** The start of the rule in local time; empty: not chosen yet. */
  starts: Wall | ''
  zone: string
}

const shown = 4

/** Edits a recurrence rule and shows its meaning and next occurrences. */
export function RuleBuilder({ value: r, onChange, starts, zone }: Props) {
  const { t, i18n } = useTranslation()
  const anchor = starts || '2026-01-01T00:00'
  const own = weekday(anchor)
  const date = Number(anchor.slice(8, 10))
  const monthly = r.byDay[0]
    ? r.byDay[0].nth < 0
      ? 'lastWeekday'
      : 'weekday'
    : r.byMonthDay[0] === -1
      ? 'lastDay'
      : 'date'
  const setFreq = (freq: Rule['freq']) =>
    onChange({ ...r, freq, byDay: freq === 'WEEKLY' ? [{ nth: 0, day: own }] : [], byMonthDay: [] })
  const setMonthly = (how: string) =>
    onChange({
      ...r,
      byDay:
        how === 'weekday'
          ? [{ nth: Math.min(4, nthOf(anchor)), day: own }]
          : how === 'lastWeekday'
            ? [{ nth: -1, day: own }]
            : [],
      byMonthDay: how === 'lastDay' ? [-1] : [],
    })
  const next = starts === '' ? [] : upcoming(r, starts, zone, shown)
  const end = r.count ? 'count' : r.until ? 'until' : 'never'
  return (
    <Stack gap="sm" role="group" aria-label={t('repeat.title')}>
      <Group gap="sm" align="flex-end">
        <NativeSelect
          label={t('repeat.how')}
          value={r.freq}
          onChange={(e) => setFreq(e.currentTarget.value as Rule['freq'])}
          data={(['DAILY', 'WEEKLY', 'MONTHLY'] as const).map((value) => ({ value, label: t(`repeat.freq.${value}`) }))}
        />
        <NumberInput
          label={t(`repeat.interval.${r.freq}`)}
          w={130}
          min={1}
          max={365}
          clampBehavior="strict"
          value={r.interval}
          onChange={(n) => onChange({ ...r, interval: Math.max(1, Number(n) || 1) })}
        />
        {r.freq === 'MONTHLY' && (
          <NativeSelect
            label={t('repeat.which')}
            value={monthly}
            onChange={(e) => setMonthly(e.currentTarget.value)}
            data={[
              { value: 'date', label: t('repeat.whichDate', { date }) },
              { value: 'lastDay', label: t('repeat.lastDay') },
              {
                value: 'weekday',
                label: t('repeat.nth', {
                  nth: t(
                    `repeat.ordinal.${(['first', 'second', 'third', 'fourth'] as const)[Math.min(4, nthOf(anchor)) - 1] ?? 'first'}`,
                  ),
                  day: dayName(own, i18n.language),
                }),
              },
              {
                value: 'lastWeekday',
                label: t('repeat.nth', { nth: t('repeat.ordinal.last'), day: dayName(own, i18n.language) }),
              },
            ]}
          />
        )}
      </Group>
      {r.freq === 'WEEKLY' && (
        <Input.Wrapper label={t('repeat.days')} labelElement="div">
          <Chip.Group
            multiple
            value={r.byDay.map((d) => d.day)}
            onChange={(chosen) =>
              chosen.length > 0 &&
              onChange({ ...r, byDay: days.filter((d) => chosen.includes(d)).map((day) => ({ nth: 0, day })) })
            }
          >
            <Group gap={6} mt={4}>
              {days.map((d) => (
                <Chip key={d} value={d} size="sm" radius="md" variant="outline" title={dayName(d, i18n.language)}>
                  {dayName(d, i18n.language, 'short')}
                </Chip>
              ))}
            </Group>
          </Chip.Group>
        </Input.Wrapper>
      )}
      <Group gap="sm" align="flex-end">
        <NativeSelect
          label={t('repeat.ends')}
          value={end}
          onChange={(e) => {
            const how = e.currentTarget.value
            onChange({
              ...r,
              count: how === 'count' ? 10 : undefined,
              until: how === 'until' ? anchor.slice(0, 10) : undefined,
            })
          }}
          data={(['never', 'count', 'until'] as const).map((value) => ({ value, label: t(`repeat.end.${value}`) }))}
        />
        {end === 'count' && (
          <NumberInput
            label={t('repeat.count')}
            w={130}
            min={1}
            max={10_000}
            clampBehavior="strict"
            value={r.count}
            onChange={(n) => onChange({ ...r, count: Math.max(1, Number(n) || 1) })}
          />
        )}
        {end === 'until' && (
          <DayField
            label={t('repeat.until')}
            value={r.until ?? ''}
            min={anchor.slice(0, 10)}
            clearable={false}
            w={150}
            onChange={(until) => until && onChange({ ...r, until })}
          />
        )}
      </Group>
      <div aria-live="polite" data-rule={formatRule(r)}>
        <Text size="sm" fw={600}>
          {describeRule(formatRule(r), anchor, t, i18n.language)}
        </Text>
        {starts === '' ? (
          <Text size="sm" c="dimmed">
            {t('repeat.chooseStart')}
          </Text>
        ) : next.length === 0 ? (
          <Text size="sm" c="var(--mantine-color-error)">
            {t('repeat.noUpcoming')}
          </Text>
        ) : (
          <Text size="sm" c="dimmed" component="div">
            {t('repeat.next')}{' '}
            {next.map((at, i) => (
              <span key={at}>
                {i > 0 && ' · '}
                <Time at={at} zone={zone} />
              </span>
            ))}
          </Text>
        )}
      </div>
    </Stack>
  )
}
