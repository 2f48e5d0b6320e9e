const names: Record<string, string> = {
  bluesky: 'Bluesky',
  discord: 'Discord',
  facebook: 'Facebook',
  ghost: 'Ghost',
  instagram: 'Instagram',
  linkedin: 'LinkedIn',
  mastodon: 'Mastodon',
  nostr: 'Nostr',
  slack: 'Slack',
  telegram: 'Telegram',
  threads: 'Threads',
  wordpress: 'WordPress',
  x: 'X',
  zalo: 'Zalo',
}

/** The name of a network. Networks without an entry are named, too. */
export const networkName = (network: string) => names[network] ?? network
