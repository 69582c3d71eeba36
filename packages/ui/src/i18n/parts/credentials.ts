import credentials from '../en/credentials.json';
import { addTexts } from './add-texts.ts';

await addTexts({ credentials }, () => import('../ja-credentials.ts'));
