import { Alert, Anchor, Badge, Group, Stack, Table, Text, Title } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { Schemas } from '../../api/client'
import { NoArticle } from '../../components/NoArticle'
import { Time } from '../../components/Time'

/** The extraction result of a page, with generic extraction where selectors match nothing. */
export function Outcome({ page: p }: { page: Schemas['SelectorPreviewPage'] }) {
  const { t, i18n } = useTranslation()
  const share = new Intl.NumberFormat(i18n.language, { style: 'percent' })
  const fields = {
    title: p.title,
    authors: p.authors?.join(', '),
    published: p.published_at && <Time at={p.published_at} />,
    lead: p.lead,
    section: p.section,
    body: p.text && `${p.text.slice(0, 600)}${p.text.length > 600 ? '…' : ''}`,
  }
  return (
    <Stack gap="sm" className="dl-card" p="md" component="section" aria-label={t('selectors.outcome')} data-outcome>
      <Group justify="space-between" gap="xs">
        <Title order={3} size="h5">
          {t('selectors.outcome')}
        </Title>
        <Group gap="xs">
          <Badge variant="light" tt="none" color={p.variant ? 'green' : 'gray'}>
            {p.variant ? t('selectors.fits', { name: p.variant }) : t('selectors.fitsNone')}
          </Badge>
          <Anchor href={p.url} target="_blank" rel="noreferrer nofollow" size="sm">
            {t('article.source')}
          </Anchor>
        </Group>
      </Group>
      {p.contradictions && (
        <Alert color="yellow" role="status" data-contradictions={p.contradictions.length}>
          {t('selectors.contradicts', { count: p.contradictions.length })}{' '}
          <span data-user-text>{p.contradictions[0]?.text}</span>
        </Alert>
      )}
      {p.error ? (
        <Alert color="red" role="status">
          <NoArticle reason={p.error_reason} detail={p.error} />
        </Alert>
      ) : (
        <Table fz="sm" verticalSpacing="xs">
          <Table.Tbody>
            {Object.entries(fields).map(([field, value]) => (
              <Table.Tr key={field} data-gives={field}>
                <Table.Th w={110} style={{ verticalAlign: 'top' }}>
                  {t(`fields.${field as 'title'}`)}
                </Table.Th>
                <Table.Td className="dl-text">
                  <span data-user-text>{value || '–'}</span>
                  {p.origins?.[field] && (
                    <Text size="xs" c="dimmed">
                      {t(`article.sources.${p.origins[field].source as 'text'}`, {
                        defaultValue: p.origins[field].source,
                      })}{' '}
                      · {share.format(p.origins[field].confidence)}
                    </Text>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Stack>
  )
}
