import {
  Alert,
  Anchor,
  Button,
  Center,
  Group,
  Loader,
  SimpleGrid,
  Skeleton,
  Stack,
  Text,
  ThemeIcon,
  Title,
} from '@mantine/core'
import { IconAlertTriangle, type IconProps, IconRefresh } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ComponentType, ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError } from '../api/client'
import { base } from '../boot'
import { guidePage } from '../lib/guides'
import { errorText } from '../lib/notify'
import { LinkButton } from './links'

export function Waiting() {
  const { t } = useTranslation()
  return (
    <Center mih={240} role="status" aria-label={t('state.loading')}>
      <Loader type="dots" />
    </Center>
  )
}

/** A placeholder for a list that is loading, so that the layout does not shift. */
export function WaitingRows({ rows = 4, height = 76 }: { rows?: number; height?: number }) {
  const { t } = useTranslation()
  return (
    <Stack gap="xs" role="status" aria-label={t('state.loading')}>
      {Array.from({ length: rows }, (_, i) => (
        <Skeleton key={i} height={height} radius="md" />
      ))}
    </Stack>
  )
}

/** A placeholder for cards. */
export function WaitingCards({
  cards = 6,
  height = 150,
  cols = { base: 1, sm: 2, xl: 3 },
}: {
  cards?: number
  height?: number
  cols?: Record<string, number>
}) {
  const { t } = useTranslation()
  return (
    <SimpleGrid cols={cols} spacing="sm" role="status" aria-label={t('state.loading')}>
      {Array.from({ length: cards }, (_, i) => (
        <Skeleton key={i} height={height} radius="md" />
      ))}
    </SimpleGrid>
  )
}

/** Shows an error and its remedy. */
export function Failed({ error, retry }: { error: unknown; retry?: () => void }) {
  const { t } = useTranslation()
  return (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={t('state.failed')} m="md" role="alert">
      <Stack gap="sm" align="flex-start">
        <Text size="sm">{errorText(error)}</Text>
        {retry && (
          <Button size="xs" variant="default" leftSection={<IconRefresh size={16} aria-hidden />} onClick={retry}>
            {t('state.retry')}
          </Button>
        )}
      </Stack>
    </Alert>
  )
}

/** An error of a request in the background, in a line where its result would be. */
export function InlineFailed({ what, error, retry }: { what: string; error: unknown; retry?: () => void }) {
  const { t } = useTranslation()
  return (
    <Group gap="xs" role="status" data-inline-failed>
      <Text size="sm" c="var(--mantine-color-error)">
        {what} {errorText(error)}
      </Text>
      {retry && (
        <Button size="compact-xs" variant="default" onClick={retry}>
          {t('state.retry')}
        </Button>
      )}
    </Group>
  )
}

/** Refusals: there is nothing to be loaded, now or by trying again. */
const absent = [403, 404, 409]

/** Names what could not be loaded, where it would otherwise seem that there is none. */
export function NotLoaded({
  what,
  queries,
}: {
  what: string
  queries: Pick<UseQueryResult, 'data' | 'error' | 'refetch'>[]
}) {
  const { t } = useTranslation()
  const failed = queries.filter(
    ({ data, error }) => data === undefined && error && !(error instanceof ApiError && absent.includes(error.status)),
  )
  const [first] = failed
  if (!first) return null
  const retry = () => {
    for (const q of failed) void q.refetch()
  }
  return <InlineFailed what={t('state.notLoaded', { what })} error={first.error} retry={retry} />
}

/** An empty state: what the page is for, and how to begin. guide is a page of the documentation. */
export function Empty({
  icon: Icon,
  title,
  text,
  guide,
  children,
}: {
  icon: ComponentType<IconProps>
  title: string
  text: string
  guide?: string
  children?: ReactNode
}) {
  const { t, i18n } = useTranslation()
  const [page, lang] = guidePage(guide ?? '', i18n.language)
  return (
    <Stack align="center" gap={6} py={48} px="md" ta="center" className="dl-empty">
      <ThemeIcon size={44} radius="md" variant="default" c="dimmed">
        <Icon size={24} stroke={1.6} aria-hidden />
      </ThemeIcon>
      <Title order={2} size="h4" mt={6}>
        {title}
      </Title>
      <Text c="dimmed" maw={480} style={{ textWrap: 'balance' }}>
        {text}
      </Text>
      {(children || guide) && (
        <Group mt="sm" justify="center">
          {children}
          {guide && (
            <Anchor href={`${base}/docs/${page}.html`} target="_blank" rel="noreferrer" size="sm" hrefLang={lang}>
              {t('state.guide')}
            </Anchor>
          )}
        </Group>
      )}
    </Stack>
  )
}

export function NotFound() {
  const { t } = useTranslation()
  return (
    <Empty icon={IconAlertTriangle} title={t('state.notFound')} text={t('state.notFoundText')}>
      <LinkButton to="/calendar">{t('nav.calendar')}</LinkButton>
    </Empty>
  )
}

/** A page that has thrown. Usually its code belongs to a build that is no longer served. */
export function Broken({ error }: { error: unknown }) {
  const { t } = useTranslation()
  return (
    <Alert color="red" title={t('state.broken')} m="md" role="alert">
      <Stack gap="sm" align="flex-start">
        <Text size="sm">{errorText(error)}</Text>
        <Button size="xs" variant="default" onClick={() => location.reload()}>
          {t('state.reload')}
        </Button>
      </Stack>
    </Alert>
  )
}
