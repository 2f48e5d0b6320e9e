import { createHmac, timingSafeEqual } from 'crypto';

const tolerance = 5 * 60; // seconds

/** What a delivery has in its headers. */
export interface Signed {
	id: string;
	timestamp: string;
	signature: string;
}

/**
 * Checks a delivery by the Standard Webhooks specification: HMAC-SHA256 over id, timestamp
 * and body, with the key after `whsec_`. It returns why a delivery is refused.
 */
export function refusal(secret: string, headers: Signed, body: Buffer, now = Date.now() / 1000): string | undefined {
	const sent = Number(headers.timestamp);
	if (!headers.id || !headers.signature || !Number.isInteger(sent)) return 'The signature headers are missing';
	if (Math.abs(now - sent) > tolerance) return 'The timestamp is more than five minutes off';
	const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
	const want = createHmac('sha256', key).update(`${headers.id}.${headers.timestamp}.`).update(body).digest();
	const found = headers.signature.split(' ').some((one) => {
		const [version, value] = one.split(',');
		const got = Buffer.from(value ?? '', 'base64');
		return version === 'v1' && got.length === want.length && timingSafeEqual(got, want);
	});
	return found ? undefined : 'The signature is wrong';
}
