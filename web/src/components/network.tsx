import { Group, type MantineColor, Text } from '@mantine/core'
import {
  IconBrandBluesky,
  IconBrandDiscord,
  IconBrandFacebook,
  IconBrandInstagram,
  IconBrandLinkedin,
  IconBrandMastodon,
  IconBrandSlack,
  IconBrandTelegram,
  IconBrandThreads,
  IconBrandWordpress,
  IconBrandX,
  IconBolt,
  IconGhost,
  IconLetterZ,
  type IconProps,
  IconWorld,
} from '@tabler/icons-react'
import type { ComponentType } from 'react'
import { networkName } from '../lib/networks'

/** Networks without an entry are shown, too. */
const networks: Record<string, { icon: ComponentType<IconProps>; color: MantineColor }> = {
  bluesky: { icon: IconBrandBluesky, color: 'cyan' },
  discord: { icon: IconBrandDiscord, color: 'grape' },
  facebook: { icon: IconBrandFacebook, color: 'blue' },
  ghost: { icon: IconGhost, color: 'green' },
  instagram: { icon: IconBrandInstagram, color: 'pink' },
  linkedin: { icon: IconBrandLinkedin, color: 'teal' },
  mastodon: { icon: IconBrandMastodon, color: 'violet' },
  nostr: { icon: IconBolt, color: 'yellow' },
  slack: { icon: IconBrandSlack, color: 'red' },
  telegram: { icon: IconBrandTelegram, color: 'lime' },
  threads: { icon: IconBrandThreads, color: 'orange' },
  wordpress: { icon: IconBrandWordpress, color: 'indigo' },
  x: { icon: IconBrandX, color: 'gray' },
  zalo: { icon: IconLetterZ, color: 'blue' },
}

export { networkName }
/** The color of a network's posts where colors distinguish networks; always shown with its icon. */
export const networkColor = (network: string): MantineColor => networks[network]?.color ?? 'gray'

/** The networks' brand colors. */
const brands: Record<string, string> = {
  bluesky: '#0a6fd6',
  discord: '#5865f2',
  facebook: '#0866ff',
  ghost: '#15171a',
  instagram: '#c2257f',
  linkedin: '#0a66c2',
  mastodon: '#563acc',
  nostr: '#7b3fbf',
  slack: '#611f69',
  telegram: '#1c7db8',
  threads: '#111111',
  wordpress: '#21759b',
  x: '#111111',
  zalo: '#0057d9',
}

/** A network's glyph on its brand color; the surrounding element names the network. */
export function NetworkGlyph({ network, size = 16, named }: { network: string; size?: number; named?: boolean }) {
  const Icon = networks[network]?.icon ?? IconWorld
  return (
    <span
      className="dl-glyph"
      style={{ width: size, height: size, background: brands[network] ?? '#495057' }}
      {...(named ? { role: 'img', 'aria-label': networkName(network) } : { 'aria-hidden': true })}
    >
      <Icon size={Math.round(size * 0.72)} stroke={2.2} aria-hidden />
    </span>
  )
}

export function NetworkIcon({ network, size = 18 }: { network: string; size?: number }) {
  const Icon = networks[network]?.icon ?? IconWorld
  return (
    <Icon size={size} aria-label={networkName(network)} role="img" style={{ flexShrink: 0 }} className="dl-network" />
  )
}

/** The networks of a post; each is named with its accounts. */
export function NetworkIcons({
  targets,
  size,
  max,
}: {
  targets: { network: string; handle: string }[]
  size?: number
  max?: number
}) {
  const networks = new Map<string, string[]>()
  for (const { network, handle } of targets) networks.set(network, [...(networks.get(network) ?? []), handle])
  return [...networks].slice(0, max).map(([network, handles]) => (
    <span key={network} className="dl-networks" title={`${networkName(network)}: ${handles.join(', ')}`}>
      <NetworkIcon network={network} size={size} />
    </span>
  ))
}

/** An account's label, else its name at the network. */
export const displayName = (a: { label?: string; name: string; handle: string }) => a.label || a.name || a.handle

export function AccountName({
  network,
  handle,
  label,
  size = 'sm',
}: {
  network: string
  handle: string
  label?: string
  size?: 'xs' | 'sm' | 'md'
}) {
  return (
    <Group gap={6} wrap="nowrap" miw={0}>
      <NetworkGlyph network={network} size={18} named />
      {label && (
        <Text size={size} truncate fw={600} span>
          {label}
        </Text>
      )}
      <Text size={size} truncate fw={label ? 400 : 500} c={label ? 'dimmed' : undefined} span>
        {handle}
      </Text>
    </Group>
  )
}
