import { Group, Text } from '@mantine/core'
import {
  IconBrandBluesky, IconBrandDiscord, IconBrandFacebook, IconBrandInstagram, IconBrandLinkedin, IconBrandMastodon, IconBrandTelegram,
  IconBrandThreads, IconBrandX, type IconProps, IconWorld,
} from '@tabler/icons-react'
import type { ComponentType } from 'react'

/** A network that has no entry is shown all the same. */
const networks: Record<string, { name: string; icon: ComponentType<IconProps> }> = {
  bluesky: { name: 'Bluesky', icon: IconBrandBluesky },
  discord: { name: 'Discord', icon: IconBrandDiscord },
  facebook: { name: 'Facebook', icon: IconBrandFacebook },
  instagram: { name: 'Instagram', icon: IconBrandInstagram },
  linkedin: { name: 'LinkedIn', icon: IconBrandLinkedin },
  mastodon: { name: 'Mastodon', icon: IconBrandMastodon },
  telegram: { name: 'Telegram', icon: IconBrandTelegram },
  threads: { name: 'Threads', icon: IconBrandThreads },
  x: { name: 'X', icon: IconBrandX },
}

export const networkName = (network: string) => networks[network]?.name ?? network

export function NetworkIcon({ network, size = 18 }: { network: string; size?: number }) {
  const Icon = networks[network]?.icon ?? IconWorld
  return <Icon size={size} aria-label={networkName(network)} role="img" style={{ flexShrink: 0 }} />
}

export function AccountName({ network, handle, size = 'sm' }: { network: string; handle: string; size?: 'xs' | 'sm' | 'md' }) {
  return (
    <Group gap={6} wrap="nowrap" miw={0}>
      <NetworkIcon network={network} />
      <Text size={size} truncate fw={500}>
        {handle}
      </Text>
    </Group>
  )
}
