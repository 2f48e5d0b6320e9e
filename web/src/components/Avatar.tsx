import { useState } from 'react'
import { base } from '../boot'
import { NetworkGlyph } from './network'

const palette = ['red', 'pink', 'grape', 'violet', 'indigo', 'blue', 'cyan', 'teal', 'green', 'orange'] as const

/** Returns the same color for the same name. */
function colorOf(name: string): string {
  let sum = 0
  for (const c of name) sum = (sum * 31 + (c.codePointAt(0) ?? 0)) % 9973
  return palette[sum % palette.length] ?? 'blue'
}

/** One or two initials of a name: of Vietnamese names, the last two words. */
export function initials(name: string): string {
  const words = name
    .replace(/^@/, '')
    .split(/[\s._@-]+/)
    .filter((w) => /\p{L}|\p{N}/u.test(w))
  const letters = words.length > 1 ? [words.at(-2), words.at(-1)] : [words[0]]
  return letters
    .map((w) => Array.from(w ?? '?')[0] ?? '')
    .join('')
    .toUpperCase()
}

/** An account's picture, or letters on its own color, with the network's glyph in the corner. picture is a path of the API. */
export function AccountAvatar({
  name,
  network,
  picture,
  size = 32,
  square,
  glyph = true,
  color,
}: {
  name: string
  network: string
  picture?: string
  size?: number
  square?: boolean
  glyph?: boolean
  color?: string
}) {
  const [broken, setBroken] = useState<string>()
  return (
    <span
      className="dl-avatar"
      style={{
        width: size,
        height: size,
        borderRadius: square ? 8 : '50%',
        background: `color-mix(in srgb, var(--mantine-color-${color || colorOf(name)}-9), #000 28%)`,
        fontSize: Math.round(size * 0.38),
      }}
      aria-hidden
    >
      {picture && picture !== broken ? (
        <img
          src={base + picture}
          alt=""
          loading="lazy"
          style={{ width: '100%', height: '100%', borderRadius: 'inherit', objectFit: 'cover' }}
          onError={() => setBroken(picture)}
          data-avatar
        />
      ) : (
        initials(name)
      )}
      {glyph && (
        <span className="dl-avatar-glyph">
          <NetworkGlyph network={network} size={Math.max(12, Math.round(size * 0.42))} />
        </span>
      )}
    </span>
  )
}
