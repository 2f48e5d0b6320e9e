import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, Ref } from 'react'

type Native = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof ButtonProps | keyof AnchorProps>

/** A link to a page that looks like a button. */
export const LinkButton = createLink(({ ref, ...props }: ButtonProps & Native & { ref?: Ref<HTMLAnchorElement> }) => (
  <Button component="a" ref={ref} {...props} />
))

/** A link to a page within text. */
export const LinkAnchor = createLink(({ ref, ...props }: AnchorProps & Native & { ref?: Ref<HTMLAnchorElement> }) => (
  <Anchor ref={ref} {...props} />
))
