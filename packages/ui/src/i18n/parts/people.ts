import people from '../en/people.json';
import { addTexts } from './add-texts.ts';

addTexts({ people });
