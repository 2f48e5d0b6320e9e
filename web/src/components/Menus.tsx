import { ActionIcon, Box, Button, Menu, Text, Tooltip, useMantineColorScheme } from '@mantine/core'
import {
  IconBaselineDensityMedium,
  IconBaselineDensitySmall,
  IconBuildingCommunity,
  IconCheck,
  IconChevronDown,
  IconDeviceDesktop,
  IconKeyboard,
  IconLogout,
  IconMoon,
  IconSun,
  IconUserCircle,
} from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { api, unwrap } from '../api/client'
import { base } from '../boot'
import { chooseLanguage, type Language, languages } from '../i18n'
import { useAct } from '../lib/act'
import { densities, useDensity } from '../lib/density'
import { forgetAll } from '../lib/formState'
import { sharePreference } from '../lib/preferences'
import { useMe } from '../lib/session'
import { useShowShortcuts } from './Shortcuts'

/** Explains a control while it is pointed at or focused. */
export function Hint({ label, children }: { label: string; children: ReactElement }) {
  return <Tooltip label={label}>{children}</Tooltip>
}

/** Whether a menu is open. */
export interface OpenMenu {
  opened: boolean
  onChange: (opened: boolean) => void
}

/** Chooses one of several workspaces. */
export function WorkspaceMenu(menu: OpenMenu) {
  const me = useMe()
  const { t } = useTranslation()
  const client = useQueryClient()
  const choose = useAct({
    send: (workspace_id: string) => unwrap(api.PATCH('/api/v1/session', { body: { workspace_id } })),
    accepted: () => client.resetQueries(),
    done: () => undefined,
  })
  return (
    <Menu position="bottom-start" {...menu}>
      <Menu.Target>
        <Button
          variant="subtle"
          color="gray"
          px="xs"
          loading={choose.isPending}
          leftSection={<IconBuildingCommunity size={18} aria-hidden />}
          rightSection={<IconChevronDown size={16} aria-hidden />}
          aria-label={`${t('nav.workspace')}: ${me.workspace.name}`}
        >
          <Text size="sm" truncate maw={{ base: 90, sm: 220 }}>
            {me.workspace.name}
          </Text>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {me.session.workspaces.map((w) => (
          <Menu.Item
            key={w.id}
            onClick={() => choose.mutate(w.id)}
            rightSection={w.id === me.workspace.id ? <IconCheck size={16} aria-hidden /> : null}
          >
            {w.name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

/** What a user chooses for themselves. */
export function UserMenu(menu: OpenMenu) {
  const me = useMe()
  const { t, i18n } = useTranslation()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const showKeys = useShowShortcuts()
  const [density, setDensity] = useDensity()
  const schemes = [
    { value: 'light', icon: IconSun },
    { value: 'dark', icon: IconMoon },
    { value: 'auto', icon: IconDeviceDesktop },
  ] as const
  const chooseScheme = (scheme: 'light' | 'dark' | 'auto') => {
    setColorScheme(scheme)
    sharePreference('scheme', scheme === 'auto' ? '' : scheme)
  }
  return (
    <Menu position="bottom-end" width={240} {...menu}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('nav.user')}>
          <IconUserCircle size={26} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Box px="sm" py={6}>
          <Text size="sm" fw={600} truncate>
            {me.user.name}
          </Text>
          <Text size="xs" c="dimmed" truncate>
            {t(`role.${me.role}`)}
            {me.user.email ? ` · ${me.user.email}` : ''}
          </Text>
        </Box>
        <Menu.Divider />
        <Menu.Label>{t('nav.language')}</Menu.Label>
        {(Object.keys(languages) as Language[]).map((code) => (
          <Menu.Item
            key={code}
            lang={code}
            onClick={() => void chooseLanguage(code)}
            rightSection={i18n.language === code ? <IconCheck size={16} aria-hidden /> : null}
          >
            {languages[code].name}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Label>{t('nav.scheme')}</Menu.Label>
        {schemes.map(({ value, icon: Icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon size={16} aria-hidden />}
            onClick={() => chooseScheme(value)}
            rightSection={colorScheme === value ? <IconCheck size={16} aria-hidden /> : null}
          >
            {t(`scheme.${value}`)}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Label>{t('nav.density')}</Menu.Label>
        {densities.map((value) => (
          <Menu.Item
            key={value}
            leftSection={
              value === 'compact' ? (
                <IconBaselineDensitySmall size={16} aria-hidden />
              ) : (
                <IconBaselineDensityMedium size={16} aria-hidden />
              )
            }
            onClick={() => setDensity(value)}
            rightSection={density === value ? <IconCheck size={16} aria-hidden /> : null}
          >
            {t(`density.${value}`)}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<IconKeyboard size={16} aria-hidden />} onClick={showKeys}>
          {t('keys.title')}
        </Menu.Item>
        <form method="post" action={`${base}/logout`} onSubmit={forgetAll}>
          <Menu.Item type="submit" component="button" leftSection={<IconLogout size={16} aria-hidden />}>
            {t('nav.logout')}
          </Menu.Item>
        </form>
      </Menu.Dropdown>
    </Menu>
  )
}
