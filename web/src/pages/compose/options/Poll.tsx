import { ActionIcon, Button, Checkbox, Group, Select, Stack, Switch, TextInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { PollLimits, Values } from './fields'

interface Props {
  value: Values | undefined
  limits: PollLimits
  change: (value: Values | undefined) => void
  error: (field: string) => string | undefined
}

const day = 24 * 60

/** A poll: its choices, duration and settings. */
export function Poll({ value, limits, change, error }: Props) {
  const { t } = useTranslation()
  const choices = (value?.choices ?? []) as string[]
  const first: Values = {
    choices: ['', ''],
    ...(limits.minutes ? { duration_minutes: day } : {}),
    ...(limits.days ? { duration_days: 1 } : {}),
    ...(limits.question ? { question: '' } : {}),
  }
  const set = (more: Values) => change({ ...value, ...more })
  const duration = (minutes: number) =>
    minutes < 60
      ? t('options.minutes', { count: minutes })
      : minutes < day
        ? t('options.hours', { count: minutes / 60 })
        : t('options.days', { count: minutes / day })
  return (
    <Stack gap="xs">
      <Switch
        label={t('options.field.poll')}
        checked={value !== undefined}
        onChange={(e) => change(e.currentTarget.checked ? first : undefined)}
        error={error('poll')}
      />
      {value && (
        <Stack gap="xs" pl="md">
          {limits.question !== undefined && (
            <TextInput
              label={t('options.question')}
              value={String(value.question ?? '')}
              maxLength={limits.question}
              error={error('poll.question')}
              onChange={(e) => set({ question: e.currentTarget.value })}
            />
          )}
          {choices.map((choice, i) => (
            <Group key={i} gap="xs" wrap="nowrap" align="flex-start">
              <TextInput
                flex={1}
                aria-label={t('options.choice', { number: i + 1 })}
                placeholder={t('options.choice', { number: i + 1 })}
                value={choice}
                maxLength={limits.length}
                error={error(`poll.choices[${i}]`)}
                onChange={(e) => {
                  const text = e.currentTarget.value
                  set({ choices: choices.map((old, n) => (n === i ? text : old)) })
                }}
              />
              {choices.length > 2 && (
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={t('options.removeChoice', { number: i + 1 })}
                  onClick={() => set({ choices: choices.filter((_, n) => n !== i) })}
                >
                  <IconX size={16} />
                </ActionIcon>
              )}
            </Group>
          ))}
          {choices.length < limits.choices && (
            <Button
              size="compact-sm"
              variant="subtle"
              leftSection={<IconPlus size={14} />}
              style={{ alignSelf: 'flex-start' }}
              onClick={() => set({ choices: [...choices, ''] })}
            >
              {t('options.addChoice')}
            </Button>
          )}
          {limits.minutes && (
            <Select
              label={t('options.duration')}
              allowDeselect={false}
              value={String(value.duration_minutes ?? day)}
              error={error('poll.duration_minutes')}
              data={[...new Set([...limits.minutes, Number(value.duration_minutes ?? day)])]
                .sort((a, b) => a - b)
                .map((m) => ({ value: String(m), label: duration(m) }))}
              onChange={(v) => set({ duration_minutes: Number(v) })}
            />
          )}
          {limits.days && (
            <Select
              label={t('options.duration')}
              allowDeselect={false}
              value={String(value.duration_days ?? 1)}
              error={error('poll.duration_days')}
              data={limits.days.map((d) => ({ value: String(d), label: t('options.days', { count: d }) }))}
              onChange={(v) => set({ duration_days: Number(v) })}
            />
          )}
          {limits.flags.map((flag) => (
            <Checkbox
              key={flag}
              label={t(`options.flag.${flag}`)}
              checked={value[flag] === true}
              onChange={(e) => set({ [flag]: e.currentTarget.checked || undefined })}
            />
          ))}
        </Stack>
      )}
    </Stack>
  )
}
