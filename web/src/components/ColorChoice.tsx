import { ColorSwatch, Group, Input, Tooltip } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

export const colorNames = [
  'gray',
  'red',
  'pink',
  'grape',
  'violet',
  'indigo',
  'blue',
  'cyan',
  'teal',
  'green',
  'lime',
  'yellow',
  'orange',
] as const

/** Selects one of the colors of groups and accounts. */
export function ColorChoice({
  label,
  value,
  onChange,
  clearable,
}: {
  label: string
  value: string
  onChange: (color: string) => void
  clearable?: boolean
}) {
  const { t } = useTranslation()
  return (
    <Input.Wrapper label={label} labelElement="div">
      <Group gap={6} mt={4} role="radiogroup" aria-label={label}>
        {colorNames.map((c) => (
          <Tooltip key={c} label={t(`colors.${c}`)}>
            <ColorSwatch
              component="button"
              type="button"
              role="radio"
              aria-checked={c === value}
              aria-label={t(`colors.${c}`)}
              size={26}
              color={`var(--mantine-color-${c}-6)`}
              c="#000"
              onClick={() => onChange(c === value && clearable ? '' : c)}
              style={{ cursor: 'pointer' }}
            >
              {c === value && <IconCheck size={16} aria-hidden />}
            </ColorSwatch>
          </Tooltip>
        ))}
      </Group>
    </Input.Wrapper>
  )
}
