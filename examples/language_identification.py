"""In which language is this text? Runs of one to five characters, on texts that are made here.

    python examples/language_identification.py

Each language has a list of frequent words and one of rarer words. Texts are drawn from both, half of the
words from each. Of the rarer words three quarters are for the texts that are learned, the others for those
of the test: these are recognised by their spelling alone. The features of a text are all of its runs of one
to five characters.

The model is then shrunk to a file that fits into an e-mail, and explains what it has read.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from perceptrons import TextClassifier, shrink
from perceptrons.models.shrinking import file_bytes

#: words that are in most texts
FREQUENT = {
    "Dutch": "de het een en van is niet dat die in op met voor zij wij maar ook zijn",
    "English": "the a and of to is in that it was for on with she they but not are",
    "Finnish": "ja on ei se että hän ne mutta kun oli tämä myös niin kanssa mitä minun sen ovat",
    "French": "le la les un une et de des est dans que il elle ne pas pour avec mais nous",
    "German": "der die das ein eine und ist nicht zu mit auf für sie wir aber von dem auch",
    "Italian": "il la gli un una e di è non che con per nel ma sono lei noi anche della",
    "Polish": "i w na jest nie się to z do że ale od po jak był ona są dla",
    "Portuguese": "o a os um uma e de é não que com para no na mas ela são também do",
    "Spanish": "el la los un una y de es no que con para en pero ella son también del por",
    "Swedish": "och är en ett det som på inte att med för den men var hon av jag till",
}
#: other words, in alphabetical order
WORDS = {
    "Dutch": """
        aan altijd avond beetje begin beter bijna boek boven broer dag denken deur doen donker
        duidelijk eerste eigen einde eten familie fiets gaan gebouw geld geluk genoeg gezicht goed
        graag groen grond groot haar hebben heel hond hoofd hout huis jaar jong juist kamer kijken
        kind klein komen koud kracht krijgen laatste lachen land leeg leren leven licht lopen lucht
        maand maken mens middag moeder mogelijk mooi morgen naam nacht nieuw nooit ogen onder oog
        oorlog open oud plaats rivier rood samen schip school schrijven slapen sneeuw spelen spreken
        stad steen stem straat taal tafel tijd tuin twijfel vader vandaag veel verhaal vinden vlees
        vogel volk voorbeeld vraag vriend vrouw vuur waarom wachten water week weinig wereld werk
        zee zeggen zien zomer zon zoon zuster zwart""",
    "English": """
        about after again almost always answer become before begin behind believe between book bread
        bright bring brother build change child church city clear cloud cold country dark daughter
        door dream earth enough evening every father field finger fire flower follow forest friend
        garden girl give green ground hand happy head heart heavy hold home horse house hundred idea
        keep kitchen know language large laugh learn letter light listen little live lonely love
        market meadow minute money month morning mother mountain mouth music never night nothing
        often open other paper people picture place plant quick quiet rain reach read river road
        school season shadow ship should silent simple sister sleep small smile snow something song
        speak spring stone story street strong summer sweet table teach things think thought through
        together tomorrow travel tree true under village voice wait walk water weather while white
        window winter woman wonder world write yellow young""",
    "Finnish": """
        aamu aika aina aurinko avain elokuu elämä etelä hauska helppo hetki hevonen hiljaa huomenna
        huone hyvä ihminen ilma iloinen ilta isoisä jalka joki joulu juoda järvi kaikki kala kaunis
        kaupunki kesä kevät kieli kirja kirjoittaa kivi koira koti koulu kuka kukka kuu kylmä kynä
        kysymys kädet lapsi laulu leipä lentää lumi luonto lämmin maailma maito metsä mieli minä
        musta myöhään naapuri nainen nimi nopea nukkua nuori odottaa oikea olla onnellinen opettaja
        ovi paikka paljon pieni pitkä poika puhua puu puutarha päivä pöytä raha ranta rauha ruoka
        sana sanoa satama savi sininen sisar sydän syksy syödä taivas talo talvi tehdä tie tuli
        tuuli tyhjä tyttö tänään uusi valo vanha vastaus vesi vihreä viikko vuori vuosi yksi ystävä
        yö äiti ääni""",
    "French": """
        aimer ainsi ancien année apprendre après arbre argent assez aujourd'hui automne autre avant
        beau beaucoup besoin bientôt blanc boire bois bonheur bouche bras bruit campagne chambre
        chanson chaque chat chaud chemin cheval chez chien choisir ciel comprendre courir croire
        cuisine cœur demain dernier deux devant dire doux eau enfant ensemble entendre entre espoir
        esprit facile faire famille femme fenêtre feuille fille fleur fleuve forêt froid frère fête
        garçon grand guerre heureux hier histoire hiver homme jamais jardin jeune jeunesse jouer
        journée jusque laisser langue lettre lire livre loin longtemps lumière lune main maintenant
        maison malade matin mieux monde montagne mort mourir musique mère neige noir nouveau nuit
        oiseau oublier ouvrir pain parler parole partout pays pluie poisson porte pourquoi premier
        printemps quand quelque rien rivière roi rouge rue rêve silence soir soleil souvent temps
        terre toujours travail trouver vent vert vieux ville visage vivre voir voix voyage yeux
        école écouter écrire église étoile été île""",
    "German": """
        abend acht allein alles anfang antwort apfel arbeit auge bauer baum beginnen berg besser
        bild blatt blume brief bringen bruder brücke buch dach danach deutlich dorf dunkel durch
        ehrlich einfach eltern erde erste essen farbe fenster feuer finden fluss frage frau freude
        freund frühling fühlen garten geben gedanke gehen geist geld genug geschichte gesicht
        gestern gesund glauben gleich glück groß grün haus heiß heute himmel hoch hund hören immer
        jahr jung junge kaffee kalt katze kennen kind kirche klein kommen kopf kraft kurz küche
        lachen land langsam laufen leben leicht lernen lesen licht liebe lied links luft machen
        manchmal meer mensch milch mittag morgen mutter mädchen möglich nachbar nacht name nehmen
        neu nichts niemand oben oft pferd platz regen reise richtig ruhig sagen schatten schiff
        schlafen schnee schnell schreiben schule schwarz schwester see sehen sommer sonne spielen
        sprache stadt stein stern still straße stunde suchen tag tisch tochter traum tür vater
        vergessen verstehen viel vogel wald warten wasser weg weiß welt wenig wetter wieder winter
        wissen woche wort wunder zeit zimmer zug zwischen öffnen über""",
    "Italian": """
        acqua albero allegro allora alto altro amico amore ancora anima anno aperto aria arrivare
        ascoltare aspettare autunno bambino bello bene bianco bocca braccio buio buono caldo camera
        cammino campagna cane cantare capire carta casa cavallo cena cercare chiaro chiesa cielo
        città colore coltello cominciare correre cosa credere cucina cuore dire domanda domani donna
        dormire ecco erba esempio estate facile famiglia fare felice festa figlio finestra fiore
        fiume foglia forse fratello freddo fuoco giardino gioco giorno giovane giugno grande
        guardare guerra idea ieri insieme inverno isola lago lasciare latte lavoro leggere lettera
        letto libro lingua lontano luce luna lungo luogo madre mai mano mare mattina mercato mese
        mondo montagna morte musica nascere neve niente nome notte nuovo occhio oggi ogni ombra pace
        padre paese pane parlare parola passare paura pensare perché pesce piccolo pioggia poco
        porta primavera primo quando quasi ragazzo ricordo ridere rispondere rosso sasso scrivere
        scuola sempre sera silenzio sogno sole sorella stagione stanco stella storia strada tavola
        tempo terra tornare uccello uomo vecchio vedere vento verde viaggio vino vita vivere voce""",
    "Polish": """
        bardzo biały blisko brat brzeg chcieć chleb chmura chodzić chłopiec cichy ciemny ciepły
        cisza czarny czas czekać czerwony czytać często człowiek córka daleko dawno deszcz dobry dom
        droga drugi drzewo drzwi dużo dziecko dziewczyna dzień dzisiaj godzina gość gwiazda góra
        głos głowa historia imię iść jabłko jasny jesień jezioro jutro każdy kiedy kobieta kolor
        koniec kot kraj krótki książka księżyc kuchnia kwiat las lato lekki list liść ludzie matka
        mały miasto miejsce miesiąc mieszkać mleko morze most muzyka myśl mówić młody nadzieja niebo
        niedziela nigdy noc nowy obraz odpowiedź ogień ogród ojciec okno oko ostatni otwarty
        pamiętać patrzeć pierwszy pies pisać piękny pokój pole powietrze pracować prawda prosty
        przyjaciel ptak pytanie radość rano rodzina rok rozumieć rzeka ręka serce siostra smutny
        sobota spać spokojny stary strach stół szczęście szkoła szukać słowo słońce słuchać trawa
        trudny twarz ulica uśmiech wczoraj wiatr widzieć wieczór wiedzieć wielki wieś wiosna woda
        wolny wszystko wysoki zawsze zielony ziemia zima znać złoty łatwo łóżko śnieg świat światło
        życie""",
    "Portuguese": """
        abrir ainda alegre alegria algum alma alto amanhã amigo amor andar ano antes aprender assim
        até avó azul barco beleza bem boca bom bonito branco braço cabeça cada caminho campo cansado
        canção carta casa cavalo cedo chamar chave chegar chuva cidade claro coisa comer começar
        companheiro comprar conhecer cor coração correr cozinha criança cão céu dentro depois
        devagar dia difícil dinheiro dizer doce dormir encontrar ensinar então escola escrever
        escuro esperança esquecer estrada estrela falar família fazer feliz festa ficar filha flor
        floresta fogo folha fome força frio futuro gato gente grande guerra história hoje homem ilha
        inverno irmão janela jardim jovem lado leite lembrar ler levar livro logo longe lua lugar
        luz lágrima língua manhã mar melhor menina mesa mulher mundo mãe mão mês música nada nascer
        neve ninguém noite nome novo nunca nuvem olhar onde ontem outono outro ouvir pai palavra
        parede paz pedra peixe pensar pequeno perguntar pessoa pobre porta praia primavera primeiro
        pássaro pão quando quarto quase rapaz responder rio rosto rua saudade semana sempre silêncio
        simples sol sombra sonho sono sorriso tarde tempo terra trabalho triste velho vento verdade
        verde vermelho verão viagem vida vinho viver voltar voz água árvore""",
    "Spanish": """
        abrir abuelo agua ahora alegre alguien alma alto amable amarillo amigo amor andar aprender
        arena ayer ayudar azul año barco beber bello bien blanco boca bosque brazo bueno buscar
        caballo cabeza cada caer calle calor cama cambio camino campo canción cansado cara carta
        casa cerca cerrar cielo ciudad claro cocina comenzar comer conocer corazón correr cosa creer
        cuando cuento cuerpo decir dejar dentro despacio después difícil dinero dormir dulce día
        edad ejemplo empezar encontrar enseñar entender entonces escribir escuchar escuela espejo
        esperar estrella familia feliz fiesta flor fuego fuerte fácil gente gracias guerra hablar
        hacer hambre hermano hermoso hijo hoja hombre hoy huerto iglesia invierno isla jardín joven
        juego jugar juntos lago largo leche leer lejos lengua lento libro limpio llamar llegar
        llevar lluvia luego lugar luna luz madre mano mar mañana mejor mesa miedo mirar mismo
        montaña muchacho mucho muerte mujer mundo nacer nadie nieve niño noche nombre nube nuevo
        nunca ojo olvidar otoño padre palabra pan pared paz pensar pequeño perro pez piedra pobre
        poco preguntar primavera primero pueblo puerta pájaro quien recuerdo reír rojo ropa río
        saber sangre seguir semana siempre silencio sol sombra sonrisa sueño tarde tiempo tierra
        trabajo triste vacío vecino ventana verano verdad verde viaje vida viejo viento vino vivir
        volver voz árbol""",
    "Swedish": """
        aldrig alltid annan arbete barn berg berätta björk blad blomma blå bok bord bra bredvid brev
        bro bror brun bröd bygga båt dag dotter drick dröm dörr efter eld enkel ensam fader familj
        fattig fisk flicka flod fort framtid fred frihet fråga fröken fågel fönster första gammal
        gata gick glad glas glömma gräs grön gärna gång gård hals hand hav hem himmel hjälpa hjärta
        hoppas hund hus huvud hög höra höst igår ingen isen jord jul kaffe kall kanske katt klocka
        kläder komma kväll kyrka känna kök köpa lampa land ledsen leka liten liv ljus luft lycka
        lyssna läsa lätt långsam lön mamma mellan mjölk moder moln morgon mormor mycket människa
        måne möta namn natt nyckel nästan något ofta ord orolig pengar plats pojke regn resa rolig
        rum rådjur röd röst saga samma se segla sist sjunga sjö skog skola skriva skön smak snö sol
        sommar son sova spela springa språk stad stanna stark stjärna stol stor strand ställe sur
        svar svart syster säga söka tala tanke tid tillsammans tro träd trädgård tung tyst tystnad
        tänka under ung vakna vatten vecka vind vinter visa vit vägen vän vänta värld väska våga vår
        äpple åka återvända ögon öppen över""",
}


def texts(part: int, n: int, length: int, seed: int) -> tuple[list[str], np.ndarray]:
    """n texts of so many words for each language; of the rare words every fourth is for part 1."""
    rng = np.random.default_rng(seed)
    found, labels = [], []
    for language, listed in WORDS.items():
        rare = [word for k, word in enumerate(listed.split()) if (k % 4 == 3) == bool(part)]
        both = (rare, FREQUENT[language].split())
        for _ in range(n):
            found.append(" ".join(rng.choice(both[rng.integers(2)]) for _ in range(length)))
            labels.append(language)
    return found, np.asarray(labels)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--texts", metavar="N", type=int, default=200, help="to learn, of each language")
    chose = parser.parse_args(argv)
    train, y = texts(0, chose.texts, 8, seed=0)
    model = TextClassifier(analyzer="char", ngram_range=(1, 5), bits=18, random_state=0).fit(train, y)
    small = shrink(model, size_mb=0.1)
    print(f"{len(WORDS)} languages, {len(train):,} texts to learn\n")
    print("words in a text   right   right after shrinking")
    for length in (1, 2, 4, 8):
        test, labels = texts(1, 100, length, seed=length)
        right = [100.0 * np.mean(one.predict(test) == labels) for one in (model, small)]
        print(f"{length:15} {right[0]:5.1f} % {right[1]:10.1f} %")
    sizes = [file_bytes(one) / 1e6 for one in (model, small)]
    print(f"\nThe file takes {sizes[0]:.1f} MB, after shrinking {sizes[1]:.2f} MB.\n")
    print(small.explain("der Mond scheint über dem stillen Fluss"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
