import { Group, Text, UnstyledButton } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { PageName } from './PageName'

/** A page with its number; a click opens it. */
export function PageRow({
  page,
  own,
  number,
  times,
  active,
  choose,
}: {
  page: string
  own: boolean
  number: number
  times?: boolean
  active: boolean
  choose: (page: string) => void
}) {
  const { i18n } = useTranslation()
  const text = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: times ? 1 : 0 }).format(number)
  return (
    <UnstyledButton
      className="dl-link-box"
      px={6}
      py={4}
      aria-pressed={active}
      onClick={() => choose(page)}
      data-page={page}
    >
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm" truncate fw={active ? 700 : 400}>
          <PageName page={page} own={own} />
        </Text>
        <Text size="sm" fw={600} className="dl-numbers" data-number>
          {times ? `× ${text}` : text}
        </Text>
      </Group>
    </UnstyledButton>
  )
}
