import { Badge, Group, SimpleGrid, Stack, Text, Textarea } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { Schemas } from '../../api/client'
import { pathsOf, type Place, type Variant } from './config'

interface Props {
  place: Place
  variant: Variant
  taken: Schemas['PathMatches'][]
  change: (paths: string[]) => void
}

/** The paths of one field, and what each matches on the selected page. */
export function PathField({ place, variant, taken, change }: Props) {
  const { t } = useTranslation()
  const paths = pathsOf(variant, place)
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm" data-field={place}>
      <Textarea
        label={t(`fields.${place}`)}
        description={place === 'body' || place === 'drop' ? t(`selectors.${place}Text`) : undefined}
        placeholder={place === 'drop' ? undefined : t('selectors.placeholder')}
        autosize
        minRows={1}
        maxRows={8}
        spellCheck={false}
        autoCapitalize="none"
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
        value={paths.join('\n')}
        onChange={(e) => change(e.currentTarget.value === '' ? [] : e.currentTarget.value.split('\n'))}
      />
      <Stack gap={6} pt={{ base: 0, sm: 24 }} aria-live="polite">
        {taken.map((p, i) => (
          <div key={i} data-path={p.path}>
            <Group gap={6} wrap="nowrap">
              <Badge
                size="sm"
                variant="light"
                tt="none"
                color={p.matches > 0 ? 'green' : 'gray'}
                style={{ flexShrink: 0 }}
              >
                {t('selectors.matches', { count: p.matches })}
              </Badge>
              {taken.length > 1 && (
                <Text size="xs" c="dimmed" truncate>
                  {p.path}
                </Text>
              )}
            </Group>
            {p.values.map((value, j) => (
              <Text key={j} size="sm" className="dl-text" lineClamp={3} data-value data-user-text>
                {value}
              </Text>
            ))}
            {p.matches > p.values.length && p.values.length > 0 && (
              <Text size="xs" c="dimmed">
                {t('selectors.andMore', { count: p.matches - p.values.length })}
              </Text>
            )}
          </div>
        ))}
      </Stack>
    </SimpleGrid>
  )
}
