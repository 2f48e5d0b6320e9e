import { expect, test } from 'vitest'
import { altOf, contentOf, imageOf } from './post'

const article = {
  title: 'Giá vàng lập kỷ lục ',
  lead: 'Lần thứ ba trong năm.',
  canonical_url: 'https://news.example/gia-vang',
  image_url: 'https://img.example/a.jpg',
  html: '',
}
const all = { title: true, lead: true, link: true, track: true, image: true }

test('a post has the selected parts of title, lead and link', () => {
  expect(contentOf(article, all)).toBe('Giá vàng lập kỷ lục\n\nLần thứ ba trong năm.\n\nhttps://news.example/gia-vang')
  expect(contentOf(article, { ...all, lead: false })).toBe('Giá vàng lập kỷ lục\n\nhttps://news.example/gia-vang')
  expect(contentOf({ ...article, lead: undefined }, { ...all, link: false })).toBe('Giá vàng lập kỷ lục')
  expect(contentOf({ ...article, lead: article.title }, all)).toBe(
    'Giá vàng lập kỷ lục\n\nhttps://news.example/gia-vang',
  )
})

test('an image is described as in the article', () => {
  const html = '<p>Text</p><figure><img src="https://img.example/a.jpg" alt="Quầy vàng"></figure>'
  expect(altOf({ ...article, html }, article.image_url)).toBe('Quầy vàng')
  expect(altOf({ ...article, html }, 'https://img.example/b.jpg')).toBe('')
})

test('only images with a web URL are used', () => {
  expect(imageOf(article)).toBe('https://img.example/a.jpg')
  expect(imageOf({ ...article, image_url: 'data:image/png;base64,AAAA' })).toBeUndefined()
  expect(imageOf({ ...article, image_url: undefined })).toBeUndefined()
})
