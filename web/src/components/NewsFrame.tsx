import { Group, Stack } from '@mantine/core'
import { IconBookmark, IconEye, IconNews, IconSeedling, IconTopologyStar3, IconWorldWww } from '@tabler/icons-react'
import { useRouterState } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { LinkButton } from './links'
import { Page } from './Page'

/** A page about news: its heading, and links to the others. */
export function NewsFrame({
  title,
  lead,
  actions,
  children,
}: {
  title: string
  lead?: ReactNode
  actions?: ReactNode
  children: ReactNode
}) {
  const { t } = useTranslation()
  const path = useRouterState({ select: (s) => s.location.pathname })
  const pages = [
    {
      to: '/news',
      label: t('news.articles'),
      icon: IconNews,
      here: path === '/news' || path.startsWith('/news/articles'),
    },
    { to: '/news/stories', label: t('stories.title'), icon: IconTopologyStar3, here: path.startsWith('/news/stories') },
    { to: '/news/saved', label: t('news.saved'), icon: IconBookmark, here: path.startsWith('/news/saved') },
    { to: '/news/watches', label: t('news.watches'), icon: IconEye, here: path.startsWith('/news/watches') },
    { to: '/news/seeds', label: t('news.seeds'), icon: IconSeedling, here: path.startsWith('/news/seeds') },
    { to: '/news/domains', label: t('news.domains'), icon: IconWorldWww, here: path.startsWith('/news/domains') },
  ] as const
  return (
    <Page
      title={title}
      lead={lead}
      actions={actions}
      above={
        <Group component="nav" aria-label={t('news.pages')} gap={4} className="dl-row-scroll">
          {pages.map(({ to, label, icon: Icon, here }) => (
            <LinkButton
              key={to}
              to={to}
              size="sm"
              px="sm"
              color={here ? undefined : 'gray'}
              variant={here ? 'light' : 'subtle'}
              aria-current={here ? 'page' : undefined}
              leftSection={<Icon size={18} aria-hidden />}
            >
              {label}
            </LinkButton>
          ))}
        </Group>
      }
    >
      <Stack gap="md">{children}</Stack>
    </Page>
  )
}
