// Owns the settings of the page, and their text in the address: the same text repeats the same match.

export const TIMINGS = ['rewind', 'balanced', 'ahead'];
export const OTHERS = ['by-game', 'predicted', 'as-received'];

/** What a link's sliders allow; bandwidth 0 is no limit. Values are those that a person reads. */
export const LINK_RANGES = {
    latency: { label: 'latency', unit: 'ms each way', max: 300, step: 5 },
    jitter: { label: 'jitter', unit: '± ms', max: 100, step: 5 },
    loss: { label: 'loss', unit: '%', max: 30, step: 1 },
    bandwidth: { label: 'bandwidth', unit: 'kbit/s', max: 512, step: 16 },
};

export const CLIENTS_MIN = 2,
    CLIENTS_MAX = 8;

const GOOD = { latency: 30, jitter: 5, loss: 0, bandwidth: 0 };
const FAR = { latency: 150, jitter: 50, loss: 10, bandwidth: 0 };

/** The default for a page with these games: the first of them, and the second client has a bad link. */
export function defaults(games) {
    const links = Array.from({ length: CLIENTS_MAX }, (_, i) => ({ ...(i === 1 ? FAR : GOOD) }));
    return { game: games[0], seed: 7, clients: 4, timing: 'balanced', others: 'by-game', rewind: true, links };
}

/** A whole number within a range, or `otherwise`. */
function whole(text, min, max, otherwise) {
    const number = /^\d{1,10}$/.test(text ?? '') ? Number(text) : NaN;
    return number >= min && number <= max ? number : otherwise;
}

function oneOf(words, text, otherwise) {
    return words.includes(text) ? text : otherwise;
}

/** The settings that the address names after '#', for a page with these games. What it does not name, or names wrongly, has its default. */
export function parseSettings(hash, games) {
    const words = new URLSearchParams(hash.replace(/^#/, '')),
        settings = defaults(games);
    settings.game = oneOf(games, words.get('game'), settings.game);
    settings.seed = whole(words.get('seed'), 0, 0xffffffff, settings.seed);
    settings.clients = whole(words.get('clients'), CLIENTS_MIN, CLIENTS_MAX, settings.clients);
    settings.timing = oneOf(TIMINGS, words.get('timing'), settings.timing);
    settings.others = oneOf(OTHERS, words.get('others'), settings.others);
    settings.rewind = words.get('rewind') !== 'off';
    (words.get('links') ?? '').split(',').forEach((text, i) => {
        const numbers = text.split('.');
        if (i >= CLIENTS_MAX || numbers.length !== 4) return;
        Object.entries(LINK_RANGES).forEach(([name, range], n) => {
            settings.links[i][name] = whole(numbers[n], 0, range.max, settings.links[i][name]);
        });
    });
    return settings;
}

/** The address's text of these settings. */
export function settingsText(settings) {
    const links = settings.links
        .slice(0, settings.clients)
        .map((link) => Object.keys(LINK_RANGES).map((name) => link[name]).join('.'));
    const { game, seed, clients, timing, others, rewind } = settings;
    const rewinds = rewind ? 'on' : 'off';
    return `#game=${game}&seed=${seed}&clients=${clients}&timing=${timing}&others=${others}&rewind=${rewinds}&links=${links.join(',')}`;
}

/** A link's values as the library takes them. */
export function conditionsOf(link) {
    return {
        latencyUs: link.latency * 1000,
        jitterUs: link.jitter * 1000,
        lossPpm: link.loss * 10000,
        bytesPerS: link.bandwidth * 125,
        queueBytes: link.bandwidth > 0 ? 16000 : 0,
    };
}
