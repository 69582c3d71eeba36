import setting from '../en/setting.json';
import { addTexts } from './add-texts.ts';

await addTexts({ setting }, () => import('../ja-versions.ts'));
