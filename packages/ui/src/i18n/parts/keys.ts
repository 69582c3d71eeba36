import keys from '../en/keys.json';
import { addTexts } from './add-texts.ts';

addTexts({ keys });
