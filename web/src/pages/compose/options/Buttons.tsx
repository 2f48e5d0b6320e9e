import { ActionIcon, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

export interface LinkButton {
  text: string
  url: string
}

interface Props {
  value: LinkButton[][]
  change: (value: LinkButton[][]) => void
  error: (field: string) => string | undefined
}

/** Buttons below a message, one in a row. */
export function Buttons({ value, change, error }: Props) {
  const { t } = useTranslation()
  const rows = value.map((row) => row[0] ?? { text: '', url: '' })
  const set = (next: LinkButton[]) => change(next.map((button) => [button]))
  const update = (at: number, more: Partial<LinkButton>) =>
    set(rows.map((row, i) => (i === at ? { ...row, ...more } : row)))
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500}>
        {t('options.field.buttons')}
      </Text>
      {rows.map((row, i) => (
        <Group key={i} gap="xs" wrap="nowrap" align="flex-start">
          <TextInput
            aria-label={t('options.buttonText', { number: i + 1 })}
            placeholder={t('options.buttonText', { number: i + 1 })}
            value={row.text}
            maxLength={64}
            error={error(`buttons[${i}][0].text`)}
            onChange={(e) => update(i, { text: e.currentTarget.value })}
          />
          <TextInput
            flex={1}
            type="url"
            aria-label={t('options.buttonUrl', { number: i + 1 })}
            placeholder="https://"
            value={row.url}
            maxLength={2000}
            error={error(`buttons[${i}][0].url`)}
            onChange={(e) => update(i, { url: e.currentTarget.value })}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t('options.removeButton', { number: i + 1 })}
            onClick={() => set(rows.filter((_, n) => n !== i))}
          >
            <IconX size={16} />
          </ActionIcon>
        </Group>
      ))}
      {error('buttons') && (
        <Text size="xs" c="var(--mantine-color-error)">
          {error('buttons')}
        </Text>
      )}
      <Button
        size="compact-sm"
        variant="subtle"
        leftSection={<IconPlus size={14} />}
        style={{ alignSelf: 'flex-start' }}
        onClick={() => set([...rows, { text: '', url: '' }])}
      >
        {t('options.addButton')}
      </Button>
    </Stack>
  )
}
